"""Resize in all its modes, and Upsample before it."""
import numpy as np

from cases import Fixed
from recipes import recipe

COORDINATES = {10: ["asymmetric"], 11: ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"],
               13: ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"],
               18: ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"],
               19: ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]}
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
SCALES = [0.5, 1.0, 2.0, 0.6, 1.5, 0.75, 3.0, 0.25, 1.25, 2.5]


@recipe("Resize")
def resize(d):
    rank = d.one(4, 4, 3, 2)
    shape = [d.integer(1, 2)] * (rank > 2) + [d.integer(1, 2)] * (rank > 3) + [d.integer(1, 7) for _ in range(min(rank, 2))]
    shape = shape[-rank:]
    dtype = d.type()
    x = d.values(shape, dtype)
    outer = rank - 2 if rank > 2 else 0
    scales = [1.0] * outer + [d.one(*SCALES) for _ in range(rank - outer)]
    scales = [s if int(n * s) > 0 else 1.0 for n, s in zip(shape, scales)]
    if d.version == 10:
        return d.case([x, Fixed(np.asarray(scales, np.float32))], d.some(mode=["nearest", "linear"]))
    attributes = d.some(mode=["nearest", "linear", "cubic"], coordinate_transformation_mode=COORDINATES[d.version], nearest_mode=NEAREST,
                        cubic_coeff_a=[-0.75, -0.5, -1.0], exclude_outside=[0, 1],
                        extrapolation_value=[0.0, 1.5, -10.0] if np.dtype(dtype).kind == "f" else [0.0, 1.0, 3.0])
    if d.version >= 18:
        attributes |= d.some(antialias=[0, 0, 1], keep_aspect_ratio_policy=["stretch", "not_larger", "not_smaller"])
    mode = attributes.get("mode", "nearest")
    if mode != "cubic":
        attributes.pop("exclude_outside", 0), attributes.pop("cubic_coeff_a", 0)
    if mode == "nearest":
        attributes.pop("antialias", 0)
    axes = list(range(rank))
    if d.version >= 18 and d.flag(0.3):
        axes = [int(a) for a in d.rng.permutation(rank)[:d.integer(1, rank)]] if d.flag() else list(range(outer, rank))
        attributes["axes"] = [a - rank if d.flag(0.3) else a for a in axes]
    region = None
    if attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        ends = [(0.0, 1.0) if a < outer else d.one((0.0, 1.0), (0.25, 0.75), (0.375, 1.25), (-0.25, 0.625), (1.0, 0.0)) for a in axes]
        region = Fixed(np.asarray([e[0] for e in ends] + [e[1] for e in ends], np.float32))
    if d.flag(0.4):
        attributes.pop("keep_aspect_ratio_policy", 0)
        return d.case([x, region, Fixed(np.asarray([scales[a] for a in axes], np.float32))], attributes)
    sizes = [shape[a] if a < outer else d.integer(1, 9) for a in axes]
    none = Fixed(np.zeros(0, np.float32)) if d.version < 13 else None
    if d.version < 13 and region is None:
        region = none
    return d.case([x, region, none, Fixed(np.asarray(sizes, np.int64))], attributes)


@recipe("Upsample")
def upsample(d):
    shape = [d.integer(1, 2), d.integer(1, 2), d.integer(1, 5), d.integer(1, 5)]
    x = d.values(shape, d.type())
    scales = [1.0, 1.0, d.one(1.0, 2.0, 3.0, 1.5), d.one(1.0, 2.0, 3.0, 2.5)]
    attributes = d.some(mode=["nearest", "linear"])
    if d.version < 9:
        return d.case([x], attributes | {"scales": scales})
    return d.case([x, Fixed(np.asarray(scales, np.float32))], attributes)
