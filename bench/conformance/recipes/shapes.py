"""What follows from shapes and constants."""
import numpy as np

from cases import Fixed, constant_tensor
from draws import TYPES
from recipes import recipe


@recipe("Shape")
def shape_of(d):
    return d.case([d.values(d.shape(), d.type())], d.some(start=[0, 1, -1, -2, 3, 9, -9], end=[0, 1, -1, 2, 9, -9]) if d.version >= 15 else {})


@recipe("Size")
def size(d):
    return d.case([d.values(d.shape(), d.type())])


@recipe("Constant")
def constant(d):
    dtype = d.one(*TYPES.values())
    options = [{"value": constant_tensor(d.values(d.shape(), dtype))}]
    if d.version >= 12:
        options += [{"value_float": 2.5}, {"value_floats": [1.0, -2.5, 0.0]}, {"value_int": -7}, {"value_ints": [3, -1]}, {"value_floats": [0.5]}]
    return d.case([], d.one(*options))


@recipe("ConstantOfShape")
def constant_of_shape(d):
    value = constant_tensor(d.values([1], d.one(*[t for t in TYPES.values()])))
    return d.case([d.known(d.shape(0, 3, 0.1))], {"value": value} if d.flag(0.7) else {})


@recipe("Range")
def arange(d):
    dtype = d.one(*[t for t in d.types(0) if t != np.float16])
    step = d.one(1, 2, 3, -1, -2) if np.dtype(dtype).kind != "f" else d.one(1.0, 0.5, -0.25, 0.3, -1.5)
    start = d.integer(-5, 5)
    end = start + int(np.sign(step)) * d.integer(-1, 9)
    return d.case([Fixed(np.asarray(v, dtype)) for v in (start, end, step)])
