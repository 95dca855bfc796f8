"""What reads images at positions that floats decide."""
import numpy as np

from recipes import recipe


@recipe("GridSample")
def grid_sample(d):
    rank = d.one(1, 2, 2, 2, 3) if d.version >= 20 else 2
    modes = ["linear", "nearest", "cubic"] if d.version >= 20 else ["bilinear", "nearest", "bicubic"]
    attributes = d.some(mode=modes, padding_mode=["zeros", "border", "reflection"], align_corners=[0, 1])
    images, channels = d.integer(1, 2), d.integer(1, 3)
    sizes, points = [d.integer(1, 6) for _ in range(rank)], [d.integer(1, 5) for _ in range(rank)]
    x = d.values([images, channels] + sizes, d.type() if attributes.get("mode") == "nearest" else d.one(*[t for t in d.types(0) if np.dtype(t).kind == "f"]))
    grid = d.rng.uniform(-1.6, 1.6, [images] + points + [rank])
    if d.flag(0.2):  # at elements, and halfway between them
        grid = np.round(grid * 4) / 4
    return d.case([x, grid.astype(x.dtype if x.dtype.kind == "f" else np.float32)], attributes)


def regions(d, count, reach):
    """x1, y1, x2, y2: most in order, some the other way round or beside the image."""
    corners = np.sort(d.rng.uniform(-2, reach + 2, [count, 2, 2]), axis=1)
    corners = np.where(d.rng.random([count, 1, 1]) < 0.15, corners[:, ::-1], corners)
    if d.flag(0.3):
        corners = np.round(corners * 2) / 2
    return corners.reshape(count, 4)


def image(d):
    return [d.integer(1, 3), d.integer(1, 3), d.integer(1, 9), d.integer(1, 9)]


@recipe("RoiAlign")
def roi_align(d):
    shape, count = image(d), d.integer(1, 4)
    scale = d.one(1.0, 0.5, 0.25, 0.3)
    attributes = d.some(mode=["avg", "max"], output_height=[1, 2, 3], output_width=[1, 2, 3], sampling_ratio=[0, 1, 2, 3])
    if d.version >= 16:
        attributes |= d.some(coordinate_transformation_mode=["half_pixel", "output_half_pixel"])
    if scale != 1 or d.flag():
        attributes["spatial_scale"] = scale
    dtype = d.type()
    rois = (regions(d, count, max(shape[2:])) / scale).astype(dtype)
    return d.case([d.values(shape, dtype), rois, d.rng.integers(0, shape[0], [count]).astype(np.int64)], attributes)


@recipe("MaxRoiPool")
def max_roi_pool(d):
    shape, count = image(d), d.integer(1, 4)
    scale = d.one(1.0, 0.5, 0.25)
    dtype = d.type()
    rois = np.concatenate([d.rng.integers(0, shape[0], [count, 1]), regions(d, count, max(shape[2:])) / scale], axis=1).astype(dtype)
    attributes = {"pooled_shape": [d.integer(1, 3), d.integer(1, 3)]} | ({"spatial_scale": scale} if scale != 1 or d.flag() else {})
    return d.case([d.values(shape, dtype), rois], attributes)


@recipe("MaxUnpool")
def max_unpool(d):
    rank = d.one(1, 2, 2, 3)
    kernel, strides = [d.integer(1, 3) for _ in range(rank)], [d.integer(1, 3) for _ in range(rank)]
    shape = [d.integer(1, 2), d.integer(1, 2)] + [d.integer(1, 4) for _ in range(rank)]
    attributes = {"kernel_shape": kernel}
    if d.flag(0.7):
        attributes["strides"] = strides
    else:
        strides = [1] * rank
    pads = [0] * (2 * rank)
    if d.flag(0.3):
        attributes["pads"] = pads = [d.integer(0, (k - 1) // 2) for k in kernel] * 2
    whole = shape[:2] + [(n - 1) * s + k - pads[i] - pads[rank + i] for i, (n, s, k) in enumerate(zip(shape[2:], strides, kernel))]
    size = int(np.prod(whole))
    if min(whole) < 1 or size < np.prod(shape):  # windows that overlap so far have more elements than the image
        attributes, whole = {"kernel_shape": kernel, "strides": kernel}, shape[:2] + [n * k for n, k in zip(shape[2:], kernel)]
        size = int(np.prod(whole))
    places = d.rng.permutation(size)[:int(np.prod(shape))].reshape(shape).astype(np.int64)
    larger = [d.known(whole[:2] + [n + d.integer(0, 2) for n in whole[2:]])] if d.flag(0.4) else []
    return d.case([d.values(shape, d.type()), d.maybe_fixed(places)] + larger, attributes)


@recipe("DeformConv")
def deform_conv(d):
    group, offset_group = d.one(1, 1, 2), d.one(1, 1, 2)
    kernel = [d.integer(1, 3), d.integer(1, 3)]
    attributes = d.some(strides=[[d.integer(1, 2), d.integer(1, 2)]], dilations=[[d.integer(1, 2), d.integer(1, 2)]], pads=[[d.integer(0, 1) for _ in range(4)]])
    if group > 1 or d.flag(0.3):
        attributes["group"] = group
    if offset_group > 1 or d.flag(0.3):
        attributes["offset_group"] = offset_group
    if d.flag(0.5):
        attributes["kernel_shape"] = kernel
    strides, dilations, pads = (attributes.get(n, [v] * m) for n, v, m in (("strides", 1, 2), ("dilations", 1, 2), ("pads", 0, 4)))
    reach = [(k - 1) * r + 1 for k, r in zip(kernel, dilations)]
    sizes = [n + d.integer(1, 3) for n in reach]  # of one element onnx.reference divides by zero
    out = [(n + pads[i] + pads[i + 2] - reach[i]) // strides[i] + 1 for i, n in enumerate(sizes)]
    images, channels, filters, taps = d.integer(1, 2), 2 * d.integer(1, 2), group * d.integer(1, 2), kernel[0] * kernel[1]
    dtype = d.type()
    inputs = [d.values([images, channels] + sizes, dtype), d.floats([filters, channels // group] + kernel, dtype),
              d.rng.normal(0, 1.2, [images, offset_group * taps * 2] + out).astype(dtype)]
    bias, mask = d.flag(), d.flag()
    inputs += [d.floats([filters], dtype) if bias else None] if bias or mask else []
    inputs += [d.rng.uniform(0, 1, [images, offset_group * taps] + out).astype(dtype)] if mask else []
    return d.case(inputs, attributes)
