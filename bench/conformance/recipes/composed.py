"""Operators of the standard that the program makes of others: signals, grids, rare ones."""
import numpy as np

from cases import Fixed, element_type
from recipes import recipe


@recipe("DFT")
def dft(d):
    shape = d.dims(d.integer(2, 3))
    inverse, onesided = d.flag(0.4), d.flag(0.4)
    parts = 2 if inverse else 1 if onesided else d.one(1, 2)
    rank = len(shape) + 1
    axis = d.integer(0 if d.version >= 20 else 1, rank - 2)
    attributes = d.some(inverse=[int(inverse)], onesided=[int(onesided)])
    if inverse:
        attributes["inverse"] = 1
    if onesided:
        attributes["onesided"] = 1
        shape[axis] = max(2, shape[axis])
    length = [Fixed(np.int64(d.integer(1, 8)))] if d.flag(0.4) else [None]
    x = d.values(shape + [parts], d.type())
    if d.version < 20:
        return d.case([x] + length, attributes | {"axis": axis})
    return d.case([x] + length + [Fixed(np.int64(d.one(axis, axis - rank)))], attributes)


@recipe("STFT")
def stft(d):
    batch, samples, frame = d.integer(1, 2), d.integer(8, 20), d.integer(2, 8)
    parts = d.one(1, 1, 2)
    attributes = {"onesided": 0} if parts == 2 else d.some(onesided=[0, 1])
    dtype = d.type()
    windowed = d.flag(0.7)
    inputs = [d.values([batch, samples, parts], dtype), Fixed(np.int64(d.integer(1, 4))), d.floats([frame], dtype) if windowed else None]
    return d.case(inputs + ([Fixed(np.int64(frame))] if not windowed or d.flag() else []), attributes)


def float_type(d):
    return int(element_type(d.one(np.float32, np.float64)))


@recipe("HannWindow", "HammingWindow", "BlackmanWindow")
def window(d):
    periodic = d.flag()
    return d.case([Fixed(np.asarray(d.integer(1 if periodic else 2, 12), d.one(np.int64, np.int32)))],
                  ({"periodic": int(periodic)} if not periodic or d.flag() else {}) | ({"output_datatype": float_type(d)} if d.flag() else {}))


@recipe("MelWeightMatrix")
def mel_weight_matrix(d):
    rate = d.one(8000, 16000)
    inputs = [np.int64(d.integer(1, 8)), np.int64(d.one(16, 33, 64)), np.int64(rate), np.float32(d.one(0.0, 125.0)), np.float32(rate / d.one(2, 3))]
    return d.case([Fixed(x) for x in inputs], {"output_datatype": float_type(d)} if d.flag() else {})


@recipe("AffineGrid")
def affine_grid(d):
    rank = d.one(2, 3)
    size = [d.integer(1, 2), d.integer(1, 3)] + [d.integer(2, 5) for _ in range(rank)]
    return d.case([d.values([size[0], rank, rank + 1]), Fixed(np.asarray(size, np.int64))], d.some(align_corners=[0, 1]))


@recipe("Col2Im")
def col2im(d):
    rank = d.one(2, 2, 3)
    block = [d.integer(1, 3) for _ in range(rank)]
    attributes = d.some(strides=[[d.integer(1, 2) for _ in range(rank)]], dilations=[[d.integer(1, 2) for _ in range(rank)]],
                        pads=[[d.integer(0, 1) for _ in range(rank)] * 2])
    strides, dilations, pads = (attributes.get(n, [v] * m) for n, v, m in (("strides", 1, rank), ("dilations", 1, rank), ("pads", 0, 2 * rank)))
    reach = [(k - 1) * r + 1 for k, r in zip(block, dilations)]
    image = [n + d.integer(0, 3) for n in reach]
    count = np.prod([(n + pads[i] + pads[i + rank] - reach[i]) // strides[i] + 1 for i, n in enumerate(image)])
    x = d.values([d.integer(1, 2), d.integer(1, 2) * int(np.prod(block)), int(count)], d.type())
    return d.case([x, Fixed(np.asarray(image, np.int64)), Fixed(np.asarray(block, np.int64))], attributes)


@recipe("CenterCropPad")
def center_crop_pad(d):
    shape = d.dims(d.integer(1, 4))
    attributes, count = {}, len(shape)
    if d.flag():
        attributes["axes"] = d.axes(len(shape), 1)
        count = len(attributes["axes"])
    return d.case([d.values(shape, d.type()), Fixed(np.asarray([d.integer(1, 8) for _ in range(count)], np.int64))], attributes)


@recipe("Swish")
def swish(d):
    return d.case([d.values(d.shape(), d.type())], d.some(alpha=[1.0, 0.5, 1.702]))


@recipe("Det")
def det(d):
    n = d.integer(1, 3)
    return d.case([d.values(d.dims(d.integer(0, 2)) + [n, n], d.type())])


@recipe("CumProd")
def cum_prod(d):
    shape = d.shape(1, 3)
    return d.case([d.values(shape, d.type(), low=-2, high=2), Fixed(np.asarray(d.axis(len(shape)), d.one(np.int64, np.int32)))],
                  d.some(exclusive=[0, 1], reverse=[0, 1]))


@recipe("TensorScatter")
def tensor_scatter(d):
    rank = d.integer(2, 4)
    shape = d.dims(rank)
    axis = d.integer(1, rank - 1)
    shape[axis] = d.integer(2, 6)
    update = list(shape)
    update[axis] = d.integer(1, shape[axis])
    circular = d.flag(0.4)
    attributes = ({"mode": "circular"} if circular else d.some(mode=["linear"])) | ({"axis": d.one(axis, axis - rank)} if axis != rank - 2 or d.flag() else {})
    last = shape[axis] - 1 if circular else shape[axis] - update[axis]
    written = [d.rng.integers(0, last + 1, [shape[0]]).astype(np.int64)] if d.flag(0.8) else []
    dtype = d.type()
    return d.case([d.values(shape, dtype), d.values(update, dtype)] + written, attributes)


@recipe("BitCast")
def bit_cast(d):
    dtype = d.one(np.int32, np.uint32, np.int64, np.uint8, np.int8, np.int16)
    other = {np.int32: np.uint32, np.uint32: np.int32, np.int64: np.uint64, np.uint8: np.int8, np.int8: np.uint8, np.int16: np.uint16}[dtype]
    x = d.values(d.shape(), dtype)
    if np.dtype(dtype).itemsize == 4 and d.flag():
        return d.case([Fixed(x)], {"to": int(element_type(np.float32))})
    return d.case([x], {"to": int(element_type(d.one(other, other, dtype)))})
