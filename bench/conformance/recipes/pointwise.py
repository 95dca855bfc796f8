"""Functions of one element, of two, of many; comparisons; casts."""
import numpy as np

from cases import Fixed, element_type
from draws import TYPES
from recipes import recipe

SPECIAL = 0.5  # half of the cases have landmarks and what lies beyond numbers

UNARY = {
    "LeakyRelu": {"alpha": [0.01, 0.0, -0.5, 1.0, 2.5]},
    "ThresholdedRelu": {"alpha": [1.0, 0.0, -1.0, 2.5]},
    "Shrink": {"lambd": [0.5, 0.0, 1.5], "bias": [0.0, 0.5, -1.0]},
    "HardSigmoid": {"alpha": [0.2, 0.0, 1.0, -0.5], "beta": [0.5, 0.0, -0.25, 2.0]},
    "Elu": {"alpha": [1.0, 0.0, 2.5, -0.5]},
    "Selu": {"alpha": [1.67326319, 0.5, 0.0], "gamma": [1.05070102, 1.0, 2.0]},
    "Celu": {"alpha": [1.0, 0.25, 3.0]},
    "Gelu": {"approximate": ["none", "tanh"]},
    "IsInf": {"detect_negative": [0, 1], "detect_positive": [0, 1]},
}
PLAIN = ["Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal", "Exp", "Log", "Erf", "Sin", "Cos", "Tan", "Asin", "Acos",
         "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Relu", "HardSwish", "Sigmoid", "Softplus", "Softsign", "Mish", "Not",
         "BitwiseNot", "IsNaN", "Identity", "com.microsoft.QuickGelu", "com.microsoft.Gelu"]


@recipe(*UNARY, *PLAIN)
def unary(d):
    options = {"alpha": [1.702, 1.0, -0.5]} if d.op == "QuickGelu" else UNARY.get(d.op, {}) if not d.domain else {}
    return d.case([d.values(d.shape(), d.type(), SPECIAL)], d.some(**options))


@recipe("Add", "Sub", "Mul", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor")
def binary(d):
    a, b = d.broadcast(2)
    dtype = d.type()
    return d.case([d.values(a, dtype, SPECIAL), d.floats(b, dtype, SPECIAL)])


def nonzero(d, shape, dtype):
    x = d.values(shape, dtype)
    return np.where(x == 0, np.asarray(3, dtype), x) if np.dtype(dtype).kind in "iu" else x


@recipe("Div")
def div(d):
    a, b = d.broadcast(2)
    dtype = d.type()
    y = nonzero(d, b, dtype) if np.dtype(dtype).kind in "iu" else d.values(b, dtype, SPECIAL)
    return d.case([d.values(a, dtype, SPECIAL, -20, 20), d.maybe_fixed(y)])


@recipe("Mod")
def mod(d):
    a, b = d.broadcast(2)
    dtype = d.type()
    is_float = np.dtype(dtype).kind == "f"
    return d.case([d.values(a, dtype, 0, -20, 20), d.maybe_fixed(np.where((y := d.values(b, dtype)) == 0, np.asarray(3, dtype), y))],
                  {"fmod": 1} if is_float else d.some(fmod=[0, 1]))


@recipe("Pow")
def power(d):
    a, b = d.broadcast(2)
    base = d.type(0)
    exponent = d.type(1) if d.version >= 12 else base
    y = d.values(b, exponent)
    x = d.values(a, base, SPECIAL)
    if np.dtype(base).kind in "iu":  # whole numbers stay whole
        y = np.abs(y.astype(np.int64) if np.dtype(exponent).kind in "iu" else np.round(y)).astype(exponent)
    return d.case([x, d.maybe_fixed(y)])


@recipe("BitShift")
def bit_shift(d):
    a, b = d.broadcast(2)
    dtype = d.type()
    bits = np.dtype(dtype).itemsize * 8
    return d.case([d.values(a, dtype, 0, 0, 100), d.values(b, dtype, 0, 0, 4) % np.asarray(bits, dtype)], {"direction": d.one("LEFT", "RIGHT")})


@recipe("PRelu")
def prelu(d):
    shape = d.shape()
    dtype = d.type()
    return d.case([d.values(shape, dtype, SPECIAL), d.floats(d.narrowed(shape), dtype)])


@recipe("Max", "Min", "Sum", "Mean")
def variadic(d):
    dtype = d.type()
    return d.case([d.floats(s, dtype, SPECIAL) for s in d.broadcast(d.integer(1, 4))])


@recipe("Where")
def where(d):
    a, b, c = d.broadcast(3)
    dtype = d.type(1)
    return d.case([d.maybe_fixed(d.values(a, np.bool_)), d.floats(b, dtype, SPECIAL), d.floats(c, dtype, SPECIAL)])


@recipe("Clip")
def clip(d):
    dtype = d.type()
    low, high = d.one(-1, 0, 1, 3), d.one(2, 0, 5, 1)
    x = d.values(d.shape(), dtype, SPECIAL)
    if d.version < 11:
        return d.case([x], d.some(min=[float(low)], max=[float(high)]))
    limits = [d.maybe_fixed(np.asarray(abs(v) if np.dtype(dtype).kind == "u" else v, dtype), 0.7) if d.flag(0.7) else None for v in (low, high)]
    return d.case([x] + limits)


@recipe("Dropout")
def dropout(d):
    x = d.values(d.shape(), d.type(0))
    outputs = d.one([True], [True, True])
    if d.version < 12:
        return d.case([x], d.some(ratio=[0.5, 0.0, 0.9]), outputs)
    ratio = Fixed(np.asarray(d.one(0.5, 0.0, 0.9), np.float32)) if d.flag() else None
    training = Fixed(np.asarray(False)) if d.flag(0.3) else None
    return d.case([x, ratio, training], d.some(seed=[7]), outputs)


def to_be_cast(d, source, target):
    """Values that the target can hold: what happens to others is nobody's rule."""
    shape = d.shape()
    kind, size = np.dtype(target).kind, np.dtype(target).itemsize
    x = d.values(shape, source, SPECIAL if kind in "fb" else 0, -100 if kind == "f" else -9, 100)
    if kind in "iu" and np.dtype(source).kind == "f":
        x = np.clip(x, 0 if kind == "u" else -100, 100)
    return x.astype(source), size


@recipe("Cast")
def cast(d):
    source, target = d.type(), d.one(*TYPES.values())
    x, _ = to_be_cast(d, source, target)
    attributes = {"to": int(element_type(target))}
    return d.case([x], attributes | (d.some(saturate=[0, 1]) if d.version >= 19 else {}))


@recipe("CastLike")
def cast_like(d):
    source, target = d.type(), d.one(*TYPES.values())
    x, _ = to_be_cast(d, source, target)
    return d.case([x, d.maybe_fixed(d.values(d.shape(), target))], d.some(saturate=[0, 1]) if d.version >= 19 else {})


@recipe("com.microsoft.BiasGelu")
def bias_gelu(d):
    shape = d.shape(1, 4)
    return d.case([d.values(shape), d.floats(shape[-1:])])


@recipe("com.microsoft.FastGelu")
def fast_gelu(d):
    shape = d.shape(1, 4)
    return d.case([d.values(shape)] + ([d.floats(shape[-1:])] if d.flag() else []))
