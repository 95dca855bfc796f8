"""Operators that take numbers from places that other numbers name, and put them there."""
import torch

from . import views
from .copies import cloned
from .layouts import as_tensor, broadcast
from .reductions import along, dims_of
from .views import call, copy, dimension, fill, scratch, view

WAYS = {"put": 0, "sum": 1, "prod": 2, "mean": 3, "amin": 4, "amax": 5, "min": 4, "max": 5}


def line(v):
    """A View of no dimension as one of a single number."""
    return v if v.rank else v.with_((1,), (1,))


def cut_to(v, size, d):
    """As long as size in all dimensions but d."""
    for other, length in enumerate(size):
        if other != d:
            v = v.narrow(other, 0, length)
    return v


def gather__default(self, dim, index, *, sparse_grad=False):
    out = torch.empty(index.shape, dtype=self.dtype)
    if 0 in index.shape:
        return out
    source, places, target = line(view(self)), line(view(index)), line(view(out))
    d = dimension(dim, source.rank)
    along("gather", [target], [cut_to(source, places.size, d), places], d)
    return out


def scattered(self, dim, index, src, way, include_self=True):
    out = cloned(self)
    target, places, numbers = line(view(out)), line(view(index)), line(view(src))
    d = dimension(dim, target.rank)
    if 0 in places.size:
        return out
    target = cut_to(target, places.size, d)
    numbers = cut_to(numbers, places.size, d).narrow(d, 0, places.size[d])
    along("put_at", [target], [target, places, numbers], d, [WAYS[way], include_self, 1])
    return out


def scatter_add__default(self, dim, index, src):
    return scattered(self, dim, index, src, "sum")


def scatter_reduce__two(self, dim, index, src, reduce, *, include_self=True):
    return scattered(self, dim, index, src, reduce, include_self)


def index_select__default(self, dim, index):
    source, places = line(view(self)), line(view(index))
    d = dimension(dim, source.rank)
    size = [*source.size[:d], places.size[0], *source.size[d + 1:]]
    out = torch.empty(size if self.dim() else (), dtype=self.dtype)
    along("gather", [line(view(out))], [source, beside(places, size, d)], d)
    return out


def beside(places, size, d):
    """A line of places for every line of a tensor along d."""
    return places.with_(size, [places.stride[0] if i == d else 0 for i in range(len(size))])


def put_along(self, dim, index, source, way, include_self=True, factor=1):
    """source is a View, repeated where it is a single number."""
    out = cloned(self)
    target, places = line(view(out)), line(view(index))
    d = dimension(dim, target.rank)
    size = [*target.size[:d], places.size[0], *target.size[d + 1:]]
    along("put_at", [target], [target, beside(places, size, d), line(source).expand(size)], d, [WAYS[way], include_self, factor])
    return out


def index_add__default(self, dim, index, source, *, alpha=1):
    return put_along(self, dim, index, view(source), "sum", True, alpha)


def index_copy__default(self, dim, index, source):
    return put_along(self, dim, index, view(source), "put")


def index_reduce__default(self, dim, index, source, reduce, *, include_self=True):
    return put_along(self, dim, index, view(source), reduce, include_self)


def index_fill__int_Scalar(self, dim, index, value):
    number = scratch((), self.dtype)
    fill(number, value)
    return put_along(self, dim, index, number, "put")


def index_fill__int_Tensor(self, dim, index, value):
    return put_along(self, dim, index, view(value), "put")


def flat(tensor):
    """A View of a line of its numbers in the order of their indices: of a copy where they do not lie so."""
    if tensor.is_contiguous():
        return view(tensor).with_((tensor.numel(),), (1,))
    kept = scratch(tensor.shape, tensor.dtype)
    copy(kept, view(tensor))
    return kept.with_((tensor.numel(),), (1,))


def take__default(self, index):
    out = torch.empty(index.shape, dtype=self.dtype)
    if index.numel():
        call("gather", [view(out)], [flat(self), view(index)])
    return out


def put__default(self, index, source, accumulate=False):
    kept = flat(self)
    changed = scratch(kept.size, self.dtype)
    call("put_at", [changed], [kept, flat(index), flat(source)], [WAYS["sum" if accumulate else "put"], True, 1])
    out = cloned(self)
    copy(view(out), changed.with_(self.shape, views.dense_strides(self.shape)))
    return out


def masked_scatter__default(self, mask, source):
    size = broadcast(self.shape, mask.shape)
    out = torch.empty(size, dtype=self.dtype)
    call("masked_scatter", [view(out)], [view(self).expand(size), view(mask).expand(size), flat(source)])
    return out


def masked_select__default(self, mask):
    size = broadcast(self.shape, mask.shape)
    numbers = view(self).expand(size)
    kept, count = scratch((numbers.count(),), self.dtype), scratch((), torch.int64)
    call("masked_select", [kept, count], [numbers, view(mask).expand(size)])
    return shortened(kept, views.value(count))


def shortened(v, count):
    out = torch.empty((count,), dtype=v.dtype)
    copy(view(out), v.narrow(0, 0, count))
    return out


def places_under(mask):
    """A line of indices for each dimension of a mask."""
    whole, count = scratch((mask.numel(),), torch.int64), scratch((), torch.int64)
    call("nonzero", [whole, count], [flat(mask)])
    places = whole.narrow(0, 0, views.value(count))
    lines, below = [], 1
    for size in reversed(mask.shape):
        by, within = scratch((), torch.int64), scratch((), torch.int64)
        fill(by, below), fill(within, size)
        counted, index = scratch(places.size, torch.int64), scratch(places.size, torch.int64)
        views.pointwise("div_floor", counted, [places, by])
        views.pointwise("remainder", index, [counted, within])
        lines.insert(0, index)
        below *= size
    return lines


class Indexed:
    """Where the numbers of x[i, :, j, …] lie in a dense tensor of a size: `offsets`, of `size`."""

    def __init__(self, shape, indices):
        places = []
        for index in indices:
            if index is None:
                places.append(None)
            elif index.dtype in (torch.bool, torch.uint8):
                places += places_under(index)
            else:
                places.append(view(index))
        places += [None] * (len(shape) - len(places))
        given = [d for d, p in enumerate(places) if p is not None]
        common = broadcast(*(places[d].size for d in given))
        free = [d for d, p in enumerate(places) if p is None]
        together = given == list(range(given[0], given[-1] + 1))
        front = [d for d in free if d < given[0]] if together else []
        back = [d for d in free if d not in front]
        self.size = (*(shape[d] for d in front), *common, *(shape[d] for d in back))
        self.offsets = self.summed(shape, places, front, common, back)

    def summed(self, shape, places, front, common, back):
        strides = views.dense_strides(shape)
        offsets = scratch(self.size, torch.int64)
        fill(offsets, 0)
        for d, index in enumerate(places):
            if index is None:
                line_of = scratch((shape[d],), torch.int64)
                call("indices", [line_of], [])
                after = len(back) - back.index(d) - 1 if d in back else len(common) + len(back) + len(front) - front.index(d) - 1
            else:
                line_of, after = index, len(back)
            spread = line_of.with_((*line_of.size, *[1] * after), (*line_of.stride, *[0] * after)).expand(self.size)
            call("place", [offsets], [spread, offsets], [shape[d], strides[d]])
        return offsets


def index_put__default(self, indices, values, accumulate=False):
    at = Indexed(tuple(self.shape), indices)
    kept = flat(self)
    changed = scratch(kept.size, self.dtype)
    call("put_at", [changed], [kept, at.offsets, view(values).expand(at.size)], [WAYS["sum" if accumulate else "put"], True, 1])
    out = cloned(self)
    copy(view(out), changed.with_(self.shape, views.dense_strides(self.shape)))
    return out


def indices_under(mask, indices):
    """0 where the mask is 0: what they name there need not exist."""
    result, zero = [], scratch((), torch.int64)
    fill(zero, 0)
    for index in indices:
        if index is not None:
            kept = torch.empty(broadcast(mask.shape, index.shape), dtype=torch.int64)
            views.pointwise("where", view(kept), [view(mask), view(index), zero])
            index = kept
        result.append(index)
    return result


def _unsafe_masked_index__default(self, mask, indices, fill):
    at = Indexed(tuple(self.shape), indices_under(mask, indices))
    found, other = scratch(at.size, self.dtype), scratch((), self.dtype)
    call("gather", [found], [flat(self), at.offsets])
    views.fill(other, fill)
    out = torch.empty(at.size, dtype=self.dtype)
    views.pointwise("where", view(out), [view(mask), found, other])
    return out


def _unsafe_masked_index_put_accumulate__default(self, mask, indices, values):
    at, zero = Indexed(tuple(self.shape), indices_under(mask, indices)), scratch((), self.dtype)
    fill(zero, 0)
    put = scratch(at.size, self.dtype)
    views.pointwise("where", put, [view(mask), view(values), zero])
    kept, changed = flat(self), scratch((self.numel(),), self.dtype)
    call("put_at", [changed], [kept, at.offsets, put], [WAYS["sum"], True, 1])
    out = cloned(self)
    copy(view(out), changed.with_(self.shape, views.dense_strides(self.shape)))
    return out


def segment_reduce__default(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    d = dimension(axis, data.dim())
    if offsets is None:
        ends = scratch((*lengths.shape[:-1], lengths.shape[-1] + 1), torch.int64)
        call("lengths_to_offsets", [ends], [view(lengths)], (), lengths.dim() - 1)
    else:
        ends = view(offsets)
    segments = ends.size[-1] - 1
    out = torch.empty((*data.shape[:d], segments, *data.shape[d + 1:]), dtype=data.dtype)
    spread = ends.with_((*ends.size, *data.shape[d + 1:]), (*ends.stride, *[0] * (data.dim() - d - 1)))
    along("segments", [view(out)], [view(data), spread], d, [WAYS[reduce], initial is not None, initial or 0])
    return out


def searchsorted__Tensor(sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter=None):
    out = torch.empty(self.shape, dtype=torch.int32 if out_int32 else torch.int64)
    return searched(view(sorted_sequence), view(self), out, right or side == "right", sorter)


def searched(sequence, values, out, right, sorter=None):
    orders = [view(sorter)] if sorter is not None else []
    call("searchsorted", [view(out)], [sequence, values, *orders], [right], sequence.rank - 1)
    return out


def searchsorted__Scalar(sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter=None):
    out = torch.empty((), dtype=torch.int32 if out_int32 else torch.int64)
    value = scratch((), torch.float64 if sorted_sequence.dtype.is_floating_point else sorted_sequence.dtype)
    fill(value, self)
    return searched(view(sorted_sequence), value, out, right or side == "right", sorter)


def bucketize__Tensor(self, boundaries, *, out_int32=False, right=False):
    return searchsorted__Tensor(boundaries, self, out_int32=out_int32, right=right)


def isin__Tensor_Tensor(elements, test_elements, *, assume_unique=False, invert=False):
    out = torch.empty(elements.shape, dtype=torch.bool)
    call("isin", [view(out)], [view(elements), view(test_elements)], [invert])
    return out


def distinct(slices, neighbours):
    """slices: a View whose first dimension is compared. Where each belongs, the first of each group, and their sizes."""
    count = slices.size[0]
    group, first, sizes = (scratch((count,), torch.int64) for _ in range(3))
    groups = scratch((), torch.int64)
    call("groups", [group, first, sizes, groups], [slices], [neighbours])
    found = views.value(groups)
    return group, first.narrow(0, 0, found), sizes.narrow(0, 0, found)


def tensor_of(v):
    out = torch.empty(v.size, dtype=v.dtype)
    copy(view(out), v)
    return out


def empty_indices():
    return torch.empty((0,), dtype=torch.int64)


def unique_along(self, dim, neighbours, return_inverse, return_counts):
    d = dimension(dim, self.dim())
    slices = view(self).permute([d, *(i for i in range(self.dim()) if i != d)])
    group, first, sizes = distinct(slices, neighbours)
    size = (first.size[0], *slices.size[1:])
    kept = torch.empty(size, dtype=self.dtype)  # PyTorch's result is a view of the groups one after another
    along("gather", [view(kept)], [slices, beside(first, size, 0)], 0)
    out = as_tensor(kept, view(kept).permute([*range(1, d + 1), 0, *range(d + 1, self.dim())]))
    return out, tensor_of(group) if return_inverse else empty_indices(), tensor_of(sizes) if return_counts else empty_indices()


def unique_dim__default(self, dim, sorted=True, return_inverse=False, return_counts=False):
    return unique_along(self, dim, False, True, True)


def unique_consecutive__default(self, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        return unique_along(self, dim, True, True, True)
    numbers = flat(self)
    group, first, sizes = distinct(numbers, True)
    out = torch.empty(first.size, dtype=self.dtype)
    call("gather", [view(out)], [numbers, first])
    inverse = tensor_of(group.with_(self.shape, views.dense_strides(self.shape))) if return_inverse else empty_indices()
    return out, inverse, tensor_of(sizes) if return_counts else empty_indices()


def bounds(numbers, low, high):
    """Of the numbers themselves where none are given; a width of 0 becomes 1."""
    if low == high and not numbers.count():
        return 0, 1
    if low == high:
        ends = [scratch((), numbers.dtype) for _ in range(2)]
        for end, kernel in zip(ends, ("amin", "amax")):
            call(kernel, [end], [numbers])
        low, high = map(views.value, ends)
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def histc__default(self, bins=100, min=0, max=0):
    low, high = bounds(view(self), min, max)
    out = torch.empty((bins,), dtype=self.dtype)
    call("equal_bins", [view(out)], [flat(self)], [low, high, self.element_size()])
    return out


def histogram(self, edges, weight, density):
    counts, counted = torch.empty((edges.shape[0] - 1,), dtype=self.dtype), scratch((edges.shape[0] - 1,), torch.float64)
    call("given_bins", [counted], [flat(self), view(edges), *([flat(weight)] if weight is not None else [])])
    if density:
        call("density", [view(counts)], [counted, view(edges)])
    else:
        copy(view(counts), counted)
    return counts, edges


def histogram__bin_ct(self, bins=100, *, range=None, weight=None, density=False):
    low, high = bounds(view(self), *(range or (0, 0)))
    edges, index = torch.empty((bins + 1,), dtype=self.dtype), scratch((bins + 1,), torch.int64)
    call("indices", [index], [])
    views.pointwise("spaced", view(edges), [index], [low, high, bins + 1, self.dtype != torch.float64])
    return histogram(self, edges, weight, density)


def histogram__bins_tensor(self, bins, *, weight=None, density=False):
    return histogram(self, tensor_of(view(bins)), weight, density)


def sparse(self, sparse_dims):
    """The numbers that are not 0 (slices of dense dimensions that have one) and where they are."""
    dense_dims = list(range(sparse_dims, self.dim()))
    front = tuple(self.shape[:sparse_dims])
    present = torch.empty(front, dtype=torch.bool)
    call("any", [view(present)], [view(self)], (), sparse_dims)
    lines = places_under(present)
    count = lines[0].size[0] if lines else 0
    indices = torch.empty((sparse_dims, count), dtype=torch.int64)
    for d, found in enumerate(lines):
        copy(view(indices).select(0, d), found)
    values = torch.empty((count, *self.shape[sparse_dims:]), dtype=self.dtype)
    at = Indexed(tuple(self.shape), [tensor_of(found) for found in lines])
    call("gather", [view(values)], [flat(self), at.offsets])
    return torch.sparse_coo_tensor(indices, values, tuple(self.shape), is_coalesced=True, check_invariants=False)


def _to_sparse__default(self, *, layout=None, blocksize=None, dense_dim=None):
    return sparse(self, self.dim() - (dense_dim or 0))


def _to_sparse__sparse_dim(self, sparse_dim):
    return sparse(self, sparse_dim)
