"""Operators that make few numbers of many, along some dimensions."""
import torch

from . import views
from .layouts import strides_in_order
from .pointwise import computed, floating
from .views import call, dimension, scratch, view


def dims_of(dim, rank):
    """All of them for None and for none."""
    dims = [dim] if isinstance(dim, int) else list(dim or ())
    return sorted({dimension(d, rank) for d in dims}) if dims else list(range(rank))


class Lines:
    """A tensor's dimensions that stay, and those that go, which are last in `source`."""

    def __init__(self, tensor, dim, keepdim=False):
        self.whole = view(tensor)
        self.dims = dims_of(dim, tensor.dim()) if tensor.dim() else []
        self.source = self.whole.move_last(self.dims)
        self.outer = self.whole.rank - len(self.dims)
        self.size = [1 if d in self.dims else s for d, s in enumerate(self.whole.size)]
        self.keepdim = keepdim

    def out(self, dtype):
        """A new tensor for a number a line, and the View of it without the dimensions that went."""
        stride = strides_in_order(self.size, self.outer_first())
        stay = [d for d in range(self.whole.rank) if d not in self.dims]
        if not self.keepdim:
            size, stride = [self.size[d] for d in stay], [stride[d] for d in stay]
            tensor = torch.empty_strided(size, stride, dtype=dtype)
            return tensor, view(tensor)
        tensor = torch.empty_strided(self.size, stride, dtype=dtype)
        return tensor, view(tensor).permute(stay)

    def outer_first(self):
        return list(range(self.whole.rank))


def reduced(kernel, tensor, dim, keepdim, dtype, reals=()):
    lines = Lines(tensor, dim, keepdim)
    tensor, out = lines.out(dtype)
    call(kernel, [out], [lines.source], reals, lines.outer)
    return tensor


def summed_type(tensor, dtype):
    return dtype or (tensor.dtype if tensor.dtype.is_floating_point else torch.int64)


def sum__dim_IntList(self, dim, keepdim=False, *, dtype=None):
    return reduced("sum", self, dim, keepdim, summed_type(self, dtype))


def sum__default(self, *, dtype=None):
    return reduced("sum", self, None, False, summed_type(self, dtype))


def nansum__default(self, dim=None, keepdim=False, *, dtype=None):
    return reduced("nansum", self, dim, keepdim, summed_type(self, dtype))


def prod__default(self, *, dtype=None):
    return reduced("prod", self, None, False, summed_type(self, dtype))


def prod__dim_int(self, dim, keepdim=False, *, dtype=None):
    return reduced("prod", self, dim, keepdim, summed_type(self, dtype))


def mean__default(self, *, dtype=None):
    return reduced("mean", self, None, False, dtype or self.dtype)


def mean__dim(self, dim, keepdim=False, *, dtype=None):
    return reduced("mean", self, dim, keepdim, dtype or self.dtype)


def all__default(self):
    return all__dims(self)


def all__dims(self, dim=None, keepdim=False):
    return reduced("all", self, dim, keepdim, torch.uint8 if self.dtype == torch.uint8 else torch.bool)


all__dim = all__dims


def any__dims(self, dim=None, keepdim=False):
    return reduced("any", self, dim, keepdim, torch.uint8 if self.dtype == torch.uint8 else torch.bool)


any__dim = any__dims


def any__default(self):
    return any__dims(self)


def amax__default(self, dim=(), keepdim=False):
    return reduced("amax", self, dim, keepdim, self.dtype)


def amin__default(self, dim=(), keepdim=False):
    return reduced("amin", self, dim, keepdim, self.dtype)


def max__default(self):
    return reduced("amax", self, None, False, self.dtype)


def min__default(self):
    return reduced("amin", self, None, False, self.dtype)


def aminmax__default(self, *, dim=None, keepdim=False):
    return reduced("amin", self, dim, keepdim, self.dtype), reduced("amax", self, dim, keepdim, self.dtype)


def argmax__default(self, dim=None, keepdim=False):
    return reduced("argmax", self, dim, keepdim, torch.int64)


def argmin__default(self, dim=None, keepdim=False):
    return reduced("argmin", self, dim, keepdim, torch.int64)


def count_nonzero__dim_IntList(self, dim):
    return reduced("count_nonzero", self, dim, False, torch.int64)


def count_nonzero__default(self, dim=None):
    return reduced("count_nonzero", self, dim, False, torch.int64)


def hash_tensor__default(self, dim=(), *, keepdim=False, mode=0):
    lines = Lines(self, dim, keepdim)
    tensor, out = lines.out(torch.uint64)
    call("hash", [out.as_type(torch.int64)], [lines.source], (), lines.outer)
    return tensor


def correction_of(correction):
    return 1 if correction is None else correction


def var__correction(self, dim=None, *, correction=None, keepdim=False):
    return reduced("var", self, dim, keepdim, self.dtype, [correction_of(correction)])


def std__correction(self, dim=None, *, correction=None, keepdim=False):
    return reduced("std", self, dim, keepdim, self.dtype, [correction_of(correction)])


def var_mean__correction(self, dim=None, *, correction=None, keepdim=False):
    return var__correction(self, dim, correction=correction, keepdim=keepdim), mean__dim(self, dim, keepdim)


def std_mean__correction(self, dim=None, *, correction=None, keepdim=False):
    return std__correction(self, dim, correction=correction, keepdim=keepdim), mean__dim(self, dim, keepdim)


def linalg_vector_norm__default(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    return reduced("norm", self, dim, keepdim, dtype or self.dtype, [ord])


def logsumexp__default(self, dim, keepdim=False):
    return reduced("logsumexp", self, dim, keepdim, floating(self.dtype))


def dist__default(self, other, p=2):
    apart = computed("sub", [self, other], torch.float64, [1])
    return reduced("norm", apart, None, False, self.dtype, [p])


def trace__default(self):
    out = torch.empty((), dtype=summed_type(self, None))
    call("sum", [view(out)], [view(self).diagonal(0, 0, 1)])
    return out


def with_index(kernel, tensor, dim, keepdim, reals=()):
    """A number and its place."""
    lines = Lines(tensor, dim, keepdim)
    (values, out), (indices, places) = lines.out(tensor.dtype), lines.out(torch.int64)
    call(kernel, [out, places], [lines.source], reals, lines.outer)
    return values, indices


def max__dim(self, dim, keepdim=False):
    return with_index("max", self, dim, keepdim)


def min__dim(self, dim, keepdim=False):
    return with_index("min", self, dim, keepdim)


def median__dim(self, dim, keepdim=False):
    return with_index("median", self, dim, keepdim)


def nanmedian__dim(self, dim, keepdim=False):
    return with_index("nanmedian", self, dim, keepdim)


def median__default(self):
    return with_index("median", self, None, False)[0]


def nanmedian__default(self):
    return with_index("nanmedian", self, None, False)[0]


def mode__default(self, dim=-1, keepdim=False):
    return with_index("mode", self, dim, keepdim)


def kthvalue__default(self, k, dim=-1, keepdim=False):
    return with_index("kthvalue", self, dim, keepdim, [k])


# Lines to lines.

def along(kernel, outs, ins, dim, reals=()):
    """Views of one rank, which agree in all dimensions but this one."""
    if outs[0].rank == 0:
        return call(kernel, [v.with_((1,), (1,)) for v in outs], [v.with_((1,), (1,)) for v in ins], reals)
    d = dimension(dim, outs[0].rank)
    return call(kernel, [v.move_last([d]) for v in outs], [v.move_last([d]) for v in ins], reals, outs[0].rank - 1)


def empty_as(tensor, dtype=None):
    return torch.empty(tensor.shape, dtype=dtype or tensor.dtype)


def running(kernel, tensor, dim, dtype):
    out = empty_as(tensor, dtype)
    along(kernel, [view(out)], [view(tensor)], dim)
    return out


def cumsum__default(self, dim, *, dtype=None):
    return running("cumsum", self, dim, summed_type(self, dtype))


def cumprod__default(self, dim, *, dtype=None):
    return running("cumprod", self, dim, summed_type(self, dtype))


def logcumsumexp__default(self, dim):
    return running("logcumsumexp", self, dim, self.dtype)


def running_with_index(kernel, tensor, dim):
    values, indices = empty_as(tensor), empty_as(tensor, torch.int64)
    along(kernel, [view(values), view(indices)], [view(tensor)], dim)
    return values, indices


def cummax__default(self, dim):
    return running_with_index("cummax", self, dim)


def cummin__default(self, dim):
    return running_with_index("cummin", self, dim)


def sort__default(self, dim=-1, descending=False):
    values, indices = empty_as(self), empty_as(self, torch.int64)
    along("sort", [view(values), view(indices)], [view(self)], dim, [descending])
    return values, indices


def sort__stable(self, *, stable=None, dim=-1, descending=False):
    return sort__default(self, dim, descending)


def topk__default(self, k, dim=-1, largest=True, sorted=True):
    size = list(self.shape)
    if size:
        size[dimension(dim, self.dim())] = k
    values, indices = torch.empty(size, dtype=self.dtype), torch.empty(size, dtype=torch.int64)
    along("topk", [view(values), view(indices)], [view(self)], dim, [largest])
    return values, indices


def _softmax_backward_data__default(grad_output, output, dim, input_dtype):
    out = empty_as(grad_output, input_dtype)
    along("softmax_backward", [view(out)], [view(grad_output), view(output)], dim)
    return out


def renorm__default(self, p, dim, maxnorm):
    d = dimension(dim, self.dim())
    rest = [i for i in range(self.dim()) if i != d]
    norms = scratch((self.shape[d],), torch.float64)
    source = view(self).move_last(rest)
    call("norm", [norms], [source], [p], 1)
    out = empty_as(self)
    call("renorm", [view(out).move_last(rest)], [source, norms.unsqueeze(1)], [maxnorm], 1)
    return out
