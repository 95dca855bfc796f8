"""Operators of single numbers."""
import math

import torch

from . import views
from .layouts import broadcast, result
from .views import copy, scratch, view

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def is_tensor(x):
    return isinstance(x, torch.Tensor)


def common_type(*arguments):
    """Of tensors and numbers, by PyTorch's rules of promotion."""
    kind = arguments[0]
    if len(arguments) == 1:
        return kind.dtype
    dtype = torch.result_type(arguments[0], arguments[1])
    if len(arguments) == 3:
        dtype = torch.promote_types(dtype, torch.result_type(arguments[0], arguments[2]))
    return dtype


def floating(dtype):
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def seen(argument, dtype):
    """A View of a tensor or of a number."""
    if is_tensor(argument):
        return view(argument)
    number = scratch((), dtype)
    views.fill(number, argument)
    return number


def computed(kernel, arguments, dtype, reals=(), within=None):
    """A new tensor; within is the type in which PyTorch computes, where it is none of the result's."""
    ins = [seen(a, within or dtype) for a in arguments]
    shaping = [v for v, a in zip(ins, arguments) if is_tensor(a)]
    out = result(shaping, dtype)
    views.pointwise(kernel, view(out), ins, reals)
    return out


def unary(kernel, kind=None):
    """kind: the type of the result: None as the input's, "float" a floating one, or a type."""
    def operator(self):
        dtype = floating(self.dtype) if kind == "float" else kind or self.dtype
        return computed(kernel, [self], dtype)
    return operator


def binary(kernel, kind=None):
    def operator(self, other):
        within = common_type(self, other)
        within = floating(within) if kind == "float" else within
        return computed(kernel, [self, other], torch.bool if kind == "bool" else within, within=within)
    return operator


abs__default = unary("abs")
neg__default = unary("neg")
sign__default = sgn__default = unary("sign")
ceil__default = unary("ceil")
floor__default = unary("floor")
frac__default = unary("frac")
round__default = unary("round")
trunc__default = unary("trunc")
relu__default = unary("relu")
hardswish__default = unary("hardswish")
hardsigmoid__default = unary("hardsigmoid")
mish__default = unary("mish")
silu__default = unary("silu")
acos__default = unary("acos", "float")
acosh__default = unary("acosh", "float")
angle__default = unary("angle", "float")
asin__default = unary("asin", "float")
asinh__default = unary("asinh", "float")
atan__default = unary("atan", "float")
atanh__default = unary("atanh", "float")
cos__default = unary("cos", "float")
cosh__default = unary("cosh", "float")
deg2rad__default = unary("deg2rad", "float")
digamma__default = unary("digamma", "float")
erf__default = unary("erf", "float")
erfc__default = unary("erfc", "float")
erfinv__default = unary("erfinv", "float")
exp__default = unary("exp", "float")
exp2__default = unary("exp2", "float")
expm1__default = unary("expm1", "float")
i0__default = unary("i0", "float")
lgamma__default = unary("lgamma", "float")
log__default = unary("log", "float")
log10__default = unary("log10", "float")
log1p__default = unary("log1p", "float")
log2__default = unary("log2", "float")
rad2deg__default = unary("rad2deg", "float")
reciprocal__default = unary("reciprocal", "float")
rsqrt__default = unary("rsqrt", "float")
sigmoid__default = unary("sigmoid", "float")
sin__default = unary("sin", "float")
sinc__default = unary("sinc", "float")
sinh__default = unary("sinh", "float")
sqrt__default = unary("sqrt", "float")
tan__default = unary("tan", "float")
tanh__default = unary("tanh", "float")
isinf__default = unary("isinf", torch.bool)
isnan__default = unary("isnan", torch.bool)
isneginf__default = unary("isneginf", torch.bool)
isposinf__default = unary("isposinf", torch.bool)
logical_not__default = unary("logical_not", torch.bool)
signbit__default = unary("signbit", torch.bool)

mul__Tensor = binary("mul")
fmod__Tensor = binary("fmod")
remainder__Tensor = binary("remainder")
pow__Tensor_Tensor = binary("pow")
floor_divide__default = binary("div_floor")
maximum__default = clamp_min__Tensor = binary("maximum")
minimum__default = clamp_max__Tensor = binary("minimum")
fmax__default = binary("fmax")
fmin__default = binary("fmin")
heaviside__default = binary("heaviside")
logaddexp__default = binary("logaddexp")
logaddexp2__default = binary("logaddexp2")
hypot__default = binary("hypot")
div__Tensor = binary("div", "float")
atan2__default = binary("atan2", "float")
copysign__Tensor = copysign__Scalar = binary("copysign", "float")
igamma__default = binary("igamma", "float")
igammac__default = binary("igammac", "float")
xlogy__Tensor = binary("xlogy", "float")
eq__Tensor = binary("eq", "bool")
ne__Tensor = binary("ne", "bool")
lt__Tensor = binary("lt", "bool")
le__Tensor = binary("le", "bool")
gt__Tensor = binary("gt", "bool")
ge__Tensor = binary("ge", "bool")
logical_and__default = binary("logical_and", "bool")
logical_or__default = binary("logical_or", "bool")
logical_xor__default = binary("logical_xor", "bool")


def add__Tensor(self, other, *, alpha=1):
    return computed("add", [self, other], common_type(self, other), [alpha])


def sub__Tensor(self, other, *, alpha=1):
    return computed("sub", [self, other], common_type(self, other), [alpha])


def rsub__Tensor(self, other, *, alpha=1):
    return computed("sub", [other, self], common_type(self, other), [alpha])


def div__Tensor_mode(self, other, *, rounding_mode):
    if rounding_mode is None:
        return div__Tensor(self, other)
    return computed("div_" + rounding_mode, [self, other], common_type(self, other))


def ldexp__Tensor(self, other):
    return computed("ldexp", [self, other], floating(common_type(self, other)))


def nextafter__default(self, other):
    dtype = common_type(self, other)
    if dtype == torch.bfloat16:
        return next_bfloat16(self, other)
    return computed("nextafter_double" if dtype == torch.float64 else "nextafter_float", [self, other], dtype)


def next_bfloat16(self, other):
    out = result([view(self), view(other)], torch.bfloat16)
    views.pointwise("nextafter_bfloat16", view(out), [view(self), view(other)])
    return out


def clamp__Tensor(self, min=None, max=None):
    bounds = [b for b in (min, max) if b is not None]
    dtype = common_type(self, *bounds)
    if len(bounds) == 2:
        return computed("clamp", [self, min, max], dtype)
    return computed("maximum" if max is None else "minimum", [self, bounds[0]], dtype)


def round__decimals(self, *, decimals):
    return computed("round_decimals", [self], self.dtype, [decimals])


def frexp__Tensor(self):
    return computed("mantissa", [self], self.dtype), computed("exponent", [self], torch.int32)


def logit__default(self, eps=None):
    return computed("logit", [self], floating(self.dtype), [-1 if eps is None else eps])


def mvlgamma__default(self, p):
    return computed("mvlgamma", [self], floating(self.dtype), [p])


def nan_to_num__default(self, nan=None, posinf=None, neginf=None):
    most = torch.finfo(self.dtype).max if self.dtype.is_floating_point else 0
    return computed("nan_to_num", [self], self.dtype, [nan or 0.0, most if posinf is None else posinf, -most if neginf is None else neginf])


def leaky_relu__default(self, negative_slope=0.01):
    return computed("leaky_relu", [self], self.dtype, [negative_slope])


def elu__default(self, alpha=1, scale=1, input_scale=1):
    return computed("elu", [self], self.dtype, [alpha, scale, input_scale])


def celu__default(self, alpha=1.0):
    return computed("elu", [self], self.dtype, [alpha, 1, 1 / alpha])


def hardtanh__default(self, min_val=-1, max_val=1):
    return computed("hardtanh", [self], self.dtype, [min_val, max_val])


def hardshrink__default(self, lambd=0.5):
    return computed("hardshrink", [self], self.dtype, [lambd])


def softshrink__default(self, lambd=0.5):
    return computed("softshrink", [self], self.dtype, [lambd])


def softplus__default(self, beta=1, threshold=20):
    return computed("softplus", [self], self.dtype, [beta, threshold])


def threshold__default(self, threshold, value):
    return computed("threshold", [self], self.dtype, [threshold, value])


def gelu__default(self, *, approximate="none"):
    return computed("gelu_tanh" if approximate == "tanh" else "gelu", [self], self.dtype)


def _prelu_kernel__default(self, weight):
    return computed("prelu", [self, weight], self.dtype)


def glu__default(self, dim=-1):
    whole, d = view(self), views.dimension(dim, self.dim())
    half = whole.size[d] // 2
    gates = [whole.narrow(d, 0, half), whole.narrow(d, half, half)]
    out = result(gates, self.dtype)
    views.pointwise("glu", view(out), gates)
    return out


def native_dropout_backward__default(grad_output, mask, scale):
    return computed("dropout_backward", [grad_output, mask], grad_output.dtype, [scale])


def addcmul__default(self, tensor1, tensor2, *, value=1):
    return computed("addcmul", [self, tensor1, tensor2], common_type(self, tensor1, tensor2), [value])


def addcdiv__default(self, tensor1, tensor2, *, value=1):
    return computed("addcdiv", [self, tensor1, tensor2], common_type(self, tensor1, tensor2), [value])


def lerp__Scalar(self, end, weight):
    return computed("lerp", [self, end, weight], self.dtype, within=torch.float64)


def lerp__Tensor(self, end, weight):
    return computed("lerp", [self, end, weight], self.dtype)


def masked_fill__Scalar(self, mask, value):
    ins = [view(mask), seen(value, self.dtype), view(self)]
    out = result([ins[2], ins[0]], self.dtype)
    views.pointwise("where", view(out), ins)
    return out


def masked_fill__Tensor(self, mask, value):
    return masked_fill__Scalar(self, mask, value)


def parts_of_complex(size):
    """A complex tensor and Views of its real and imaginary numbers."""
    out = torch.empty(size, dtype=torch.complex64)
    stride = [2 * s for s in out.stride()]
    return out, [views.View(out, out.data_ptr() + 4 * part, torch.float32, size, stride) for part in (0, 1)]


def complex__default(real, imag):
    out, parts = parts_of_complex(broadcast(real.shape, imag.shape))
    for part, source in zip(parts, (real, imag)):
        copy(part, view(source))
    return out


def polar__default(abs, angle):
    out, parts = parts_of_complex(broadcast(abs.shape, angle.shape))
    for part, kernel in zip(parts, ("polar_real", "polar_imaginary")):
        views.pointwise(kernel, part, [view(abs), view(angle)])
    return out


def fill__Scalar(self, value):
    return computed("fill_like", [self], self.dtype, [value])


def is_true_everywhere(numbers):
    everywhere = scratch((), torch.bool)
    views.call("all", [everywhere], [numbers])
    return views.value(everywhere)


def allclose__default(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    near = scratch(broadcast(self.shape, other.shape), torch.bool)
    views.pointwise("close", near, [view(self), view(other)], [rtol, atol, equal_nan])
    return is_true_everywhere(near)


def equal__default(self, other):
    if self.shape != other.shape:
        return False
    same = scratch(self.shape, torch.bool)
    views.pointwise("eq", same, [view(self), view(other)])
    return is_true_everywhere(same)


def _local_scalar_dense__default(self):
    return views.value(view(self))


def reduced_loss(losses, reduction, dtype):
    """0 none, 1 mean, 2 sum."""
    if reduction == 0:
        return losses
    out = torch.empty((), dtype=dtype)
    views.call("mean" if reduction == 1 else "sum", [view(out)], [view(losses)])
    return out


def loss(kernel, arguments, reduction, reals=()):
    """Its single losses are kept as doubles when they are summed."""
    dtype = arguments[0].dtype
    return reduced_loss(computed(kernel, arguments, dtype if reduction == 0 else torch.float64, reals), reduction, dtype)


def mse_loss__default(self, target, reduction=1):
    return loss("mse", [self, target], reduction)


def smooth_l1_loss__default(self, target, reduction=1, beta=1.0):
    return loss("smooth_l1", [self, target], reduction, [beta])


def soft_margin_loss__default(self, target, reduction=1):
    return loss("soft_margin", [self, target], reduction)


def binary_cross_entropy__default(self, target, weight=None, reduction=1):
    return loss("binary_cross_entropy", [self, target, 1 if weight is None else weight], reduction)


def binary_cross_entropy_with_logits__default(self, target, weight=None, pos_weight=None, reduction=1):
    weights = [1 if w is None else w for w in (weight, pos_weight)]
    return loss("binary_cross_entropy_with_logits", [self, target, *weights], reduction)


def multi_margin_loss__default(self, target, p=1, margin=1, weight=None, reduction=1):
    scores = view(self)
    scores = scores.with_((1,) * (2 - scores.rank) + scores.size, (0,) * (2 - scores.rank) + scores.stride)
    rows, classes = scores.size
    ones = seen(1, self.dtype) if weight is None else view(weight)
    losses = torch.empty((rows,) if self.dim() == 2 else (), dtype=self.dtype if reduction == 0 else torch.float64)
    lines = view(losses).with_((rows,), (1,))
    targets = view(target).with_((rows,), (target.stride(0) if target.dim() else 0,))
    views.call("multi_margin", [lines], [scores, targets, ones.expand((rows, classes))], [p, margin], outer=1)
    return reduced_loss(losses, reduction, self.dtype)


def sequence(dtype, start, step, steps, device):
    out = torch.empty((steps,), dtype=dtype, device=device)
    index = scratch((steps,), torch.int64)
    views.call("indices", [index], [])
    whole = not dtype.is_floating_point
    views.pointwise("sequence", view(out), [index], [start, step] if not whole else [int(start), int(step)])
    return out


def arange__start_step(start, end, step=1, *, dtype=None, layout=None, device=None, pin_memory=None):
    whole = all(isinstance(x, int) for x in (start, end, step))
    dtype = dtype or (torch.int64 if whole else torch.get_default_dtype())
    return sequence(dtype, start, step, max(0, math.ceil((end - start) / step)), device)


def arange__start(start, end, *, dtype=None, layout=None, device=None, pin_memory=None):
    return arange__start_step(start, end, 1, dtype=dtype, device=device)


def arange__default(end, *, dtype=None, layout=None, device=None, pin_memory=None):
    return arange__start_step(0, end, 1, dtype=dtype, device=device)


def number(x):
    return views.value(view(x)) if is_tensor(x) else x


def spaced(start, end, steps, dtype, device, base=None):
    """From both ends to the middle, so that both are reached."""
    dtype = dtype or torch.get_default_dtype()
    out = torch.empty((steps,), dtype=dtype, device=device)
    index = scratch((steps,), torch.int64)
    views.call("indices", [index], [])
    exponents = scratch((steps,), torch.float64)
    views.pointwise("spaced", exponents, [index], [number(start), number(end), steps, False])
    views.pointwise("copy" if base is None else "power_base", view(out), [exponents], [base or 0])
    return out


def linspace__default(start, end, steps, *, dtype=None, layout=None, device=None, pin_memory=None):
    return spaced(start, end, steps, dtype, device)


def logspace__default(start, end, steps, base=10.0, *, dtype=None, layout=None, device=None, pin_memory=None):
    return spaced(start, end, steps, dtype, device, base)


linspace__Tensor_Tensor = linspace__Tensor_Scalar = linspace__Scalar_Tensor = linspace__default
logspace__Tensor_Tensor = logspace__Tensor_Scalar = logspace__Scalar_Tensor = logspace__default
