"""Operators that move numbers, and those that only look at them otherwise."""
import math

import torch

from . import views
from .layouts import as_tensor, is_dense, like, strides_in_order
from .views import copy, dimension, fill, view


def copied(source, size=None):
    """A View as a new dense tensor."""
    out = torch.empty(source.size if size is None else tuple(size), dtype=source.dtype)
    copy(view(out).with_(source.size, views.dense_strides(source.size)), source)
    return out


def cloned(tensor, memory_format=None):
    out = like(tensor, memory_format=memory_format)
    copy(view(out), view(tensor))
    return out


def clone__default(self, *, memory_format=None):
    return cloned(self, memory_format)


def alias_copy__default(self):
    return cloned(self)


def _to_copy__default(self, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    out = like(self, dtype, memory_format)
    copy(view(out), view(self))
    return out


# What only looks otherwise: sizes and strides by the rules of the operator, and PyTorch's own view with them; the *_copy operators copy the same View.

def reached(size, given):
    """The sizes that expand asks for, -1 being those that are there."""
    front = len(given) - len(size)
    return [size[d - front] if s == -1 else s for d, s in enumerate(given)]


def reshaped_sizes(count, size):
    known = math.prod(s for s in size if s != -1)
    return tuple(count // max(known, 1) if s == -1 else s for s in size)


def strides_of_view(source, size):
    """Of the same memory in other sizes; raises where no strides are."""
    if source.count() == 0:
        return tuple(source.stride) if source.size == tuple(size) else tuple(views.dense_strides(size))
    chunks, stride = [], list(size)  # chunks of dimensions that continue each other, the innermost first: numbers, stride
    for length, step in reversed([(n, s) for n, s in zip(source.size, source.stride) if n != 1]):
        if chunks and step == chunks[-1][0] * chunks[-1][1]:
            chunks[-1][0] *= length
        else:
            chunks.append([length, step])
    chunks = chunks or [[1, 1]]
    at, left = 0, chunks[0][0]
    step = chunks[0][1]
    for d in reversed(range(len(size))):
        if left == 1 and size[d] != 1:
            at += 1
            left, step = chunks[at]
        if left % size[d]:
            raise RuntimeError(f"size {source.size} with strides {source.stride} cannot be seen as {tuple(size)}")
        stride[d] = step
        left //= size[d]
        step *= size[d]
    return tuple(stride)


def view_view(source, size):
    size = reshaped_sizes(source.count(), size)
    return source.with_(size, strides_of_view(source, size))


def squeezed(source, dims=None):
    dims = range(source.rank) if dims is None else [dimension(d, source.rank) for d in dims]
    keep = [d for d in range(source.rank) if d not in dims or source.size[d] != 1]
    return source.permute(keep)


def unsqueezed(source, dim):
    d = dim + source.rank + 1 if dim < 0 else dim
    stride = source.size[d] * source.stride[d] if d < source.rank else 1
    return source.with_([*source.size[:d], 1, *source.size[d:]], [*source.stride[:d], stride, *source.stride[d:]])


def sliced(source, dim=0, start=None, end=None, step=1):
    d = dimension(dim, source.rank)
    size = source.size[d]
    start, end = 0 if start is None else start, size if end is None else end
    start, end = (min(max(x + size if x < 0 else x, 0), size) for x in (start, end))
    return source.narrow(d, start, max(0, -((start - end) // step)), step)


def selected(source, dim, index):
    d = dimension(dim, source.rank)
    if not -source.size[d] <= index < source.size[d]:
        raise IndexError(f"index {index} is out of range: the size is {source.size[d]}")
    return source.select(d, index % source.size[d])


def transposed(source, dim0, dim1):
    return source.transpose(dimension(dim0, source.rank), dimension(dim1, source.rank)) if source.rank else source


def permuted(source, dims):
    return source.permute([dimension(d, source.rank) for d in dims])


def flat_transposed(source):
    return source.transpose(0, 1) if source.rank == 2 else source


def unfolded(source, d, size, step):
    return source.unfold(dimension(d, source.rank), size, step) if source.rank else source.with_((size,), (1,))


def strided(self, size, stride, storage_offset=None):
    """Of a tensor's whole memory."""
    here = self.storage_offset()
    return view(self).with_(size, stride, (here if storage_offset is None else storage_offset) - here)


def unbound(source, dim=0):
    d = dimension(dim, source.rank)
    return [source.select(d, i) for i in range(source.size[d])]


def pieces(source, sizes, dim):
    d, start, result = dimension(dim, source.rank), 0, []
    for length in sizes:
        result.append(source.narrow(d, start, length))
        start += length
    return result


def sizes_of_pieces(length, size):
    return [min(size, length - start) for start in range(0, length, size)] or [0]


def as_strided__default(self, size, stride, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    return torch.empty(0, dtype=self.dtype).set_(self.untyped_storage(), offset, tuple(size), tuple(stride))


def view__default(self, size):
    return as_tensor(self, view_view(view(self), size))


def expand__default(self, size, *, implicit=False):
    return as_tensor(self, view(self).expand(reached(self.shape, size)))


def permute__default(self, dims):
    return as_tensor(self, permuted(view(self), dims))


def transpose__int(self, dim0, dim1):
    return as_tensor(self, transposed(view(self), dim0, dim1))


def t__default(self):
    return as_tensor(self, flat_transposed(view(self)))


def diagonal__default(self, offset=0, dim1=0, dim2=1):
    return as_tensor(self, view(self).diagonal(offset, dim1, dim2))


def select__int(self, dim, index):
    return as_tensor(self, selected(view(self), dim, index))


def slice__Tensor(self, dim=0, start=None, end=None, step=1):
    return as_tensor(self, sliced(view(self), dim, start, end, step))


def squeeze__default(self):
    return as_tensor(self, squeezed(view(self)))


def squeeze__dim(self, dim):
    return as_tensor(self, squeezed(view(self), [dim]))


def squeeze__dims(self, dim):
    return as_tensor(self, squeezed(view(self), dim))


def unsqueeze__default(self, dim):
    return as_tensor(self, unsqueezed(view(self), dim))


def unfold__default(self, dimension, size, step):
    return as_tensor(self, unfolded(view(self), dimension, size, step))


def unbind__int(self, dim=0):
    return [as_tensor(self, v) for v in unbound(view(self), dim)]


def view_as_complex__default(self):
    stride, size = self.stride(), self.shape
    if size[-1] != 2 or stride[-1] != 1 or any(s % 2 for s in stride[:-1]):
        raise RuntimeError("no complex numbers lie there")
    return torch.empty(0, dtype=torch.complex64).set_(self.untyped_storage(), self.storage_offset() // 2, size[:-1], [s // 2 for s in stride[:-1]])


def as_strided_copy__default(self, size, stride, storage_offset=None):
    return copied(strided(self, size, stride, storage_offset))


def view_copy__default(self, size):
    source, size = view(self), reshaped_sizes(self.numel(), size)
    return copied(source, size) if 0 not in size else torch.empty(size, dtype=self.dtype)


def expand_copy__default(self, size, *, implicit=False):
    return copied(view(self).expand(reached(self.shape, size)))


def permute_copy__default(self, dims):
    return copied(permuted(view(self), dims))


def transpose_copy__int(self, dim0, dim1):
    return copied(transposed(view(self), dim0, dim1))


def t_copy__default(self):
    return copied(flat_transposed(view(self)))


def diagonal_copy__default(self, offset=0, dim1=0, dim2=1):
    return copied(view(self).diagonal(offset, dim1, dim2))


def squeeze_copy__default(self):
    return copied(squeezed(view(self)))


def squeeze_copy__dim(self, dim):
    return copied(squeezed(view(self), [dim]))


def unsqueeze_copy__default(self, dim):
    return copied(unsqueezed(view(self), dim))


def unfold_copy__default(self, dimension, size, step):
    return copied(unfolded(view(self), dimension, size, step))


def narrow_copy__default(self, dim, start, length):
    d = dimension(dim, self.dim())
    return copied(view(self).narrow(d, start % self.shape[d] if start < 0 else start, length))


def unbind_copy__int(self, dim=0):
    return [copied(v) for v in unbound(view(self), dim)]


def split_with_sizes_copy__default(self, split_sizes, dim=0):
    return [copied(v) for v in pieces(view(self), split_sizes, dim)]


def unsafe_split__Tensor(self, split_size, dim=0):
    """Views, in spite of its schema."""
    sizes = sizes_of_pieces(self.shape[dimension(dim, self.dim())], split_size)
    return [as_tensor(self, v) for v in pieces(view(self), sizes, dim)]


# Copies of a tensor with another written into a part of it.

def with_part(self, part, src, out=None):
    """part gives the View to write of that of the copy."""
    out = cloned(self) if out is None else out
    copy(part(view(out)), view(src))
    return out


def diagonal_scatter__default(self, src, offset=0, dim1=0, dim2=1):
    return with_part(self, lambda whole: whole.diagonal(offset, dim1, dim2), src)


def select_scatter__default(self, src, dim, index):
    return with_part(self, lambda whole: selected(whole, dim, index), src)


def slice_scatter__default(self, src, dim=0, start=None, end=None, step=1):
    return with_part(self, lambda whole: sliced(whole, dim, start, end, step), src)


def as_strided_scatter__default(self, src, size, stride, storage_offset=None):
    return with_part(self, lambda whole: whole.with_(size, stride, (storage_offset or 0)), src)


# Other arrangements.

def flip__default(self, dims):
    out = like(self)
    copy(view(out), view(self).flip([dimension(d, self.dim()) for d in dims]))
    return out


def rot90__default(self, k=1, dims=(0, 1)):
    a, b = (dimension(d, self.dim()) for d in dims)
    source = view(self)
    if k % 2 == 0:
        out = like(self)
        copy(view(out), source.flip([a, b] if k % 4 == 2 else []))
        return out
    turned, stride = source.flip([b if k % 4 == 1 else a]).transpose(a, b), source.transpose(a, b).stride
    out = torch.empty_strided(turned.size, stride if is_dense(turned.size, stride) else views.dense_strides(turned.size), dtype=self.dtype)
    copy(view(out), turned)
    return out


def roll__default(self, shifts, dims=()):
    """Each dimension is cut in two, and the parts change places; without dimensions the tensor is one line."""
    shifts, dims = ([x] if isinstance(x, int) else list(x) for x in (shifts, dims))
    out = torch.empty(self.shape, dtype=self.dtype)
    source, target = view(self), view(out)
    if not dims:
        source, target = (v.with_((v.count(),), (1,)) for v in (view(copied(source)), target))
    parts = [(source, target)]
    for shift, dim in zip(shifts, dims or [0]):
        d, cut = dimension(dim, source.rank), []
        for before, after in parts:
            size = before.size[d]
            by = shift % size if size else 0
            cut += [(before.narrow(d, 0, size - by), after.narrow(d, by, size - by)), (before.narrow(d, size - by, by), after.narrow(d, 0, by))]
        parts = cut
    for before, after in parts:
        copy(after, before)
    return out


def stack__default(tensors, dim=0):
    d = dim + tensors[0].dim() + 1 if dim < 0 else dim
    size = list(tensors[0].shape)
    dtype = joined_type(tensors)
    out = torch.empty([*size[:d], len(tensors), *size[d:]], dtype=dtype)
    for i, t in enumerate(tensors):
        copy(view(out).select(d, i), view(t))
    return out


def joined_type(tensors):
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = torch.promote_types(dtype, t.dtype)
    return dtype


def _chunk_cat__default(tensors, dim, num_chunks):
    d = dimension(dim, min(t.dim() for t in tensors))
    widths = [-(-t.shape[d] // num_chunks) * math.prod(t.shape[d + 1:]) for t in tensors]
    front = tuple(tensors[0].shape[:d])
    out = torch.empty([*front, num_chunks, sum(widths)], dtype=tensors[0].dtype)
    fill(view(out), 0)
    start = 0
    for t, width in zip(tensors, widths):
        rows = -(-t.shape[d] // num_chunks)
        slot = view(out).narrow(d + 1, start, width)
        for chunk in range(num_chunks):
            here = min(rows, t.shape[d] - chunk * rows)
            if here > 0:
                source = view(t).narrow(d, chunk * rows, here)
                target = slot.select(d, chunk).narrow(d, 0, here * math.prod(t.shape[d + 1:]))
                copy(target.split(d, source.size[d:]), source)
        start += width
    return out


def constant_pad_nd__default(self, pad, value=0):
    rank, source = self.dim(), view(self)
    size, cuts = list(self.shape), []
    for i in range(len(pad) // 2):
        d, (before, after) = rank - 1 - i, pad[2 * i:2 * i + 2]
        size[d] += before + after
        cuts.append((d, before, after))
    out = torch.empty_strided(size, strides_in_order(size, outer_first(self)), dtype=self.dtype)
    fill(view(out), value)
    target = view(out)
    for d, before, after in cuts:
        length = self.shape[d] + min(before, 0) + min(after, 0)
        source = source.narrow(d, max(0, -before), length)
        target = target.narrow(d, max(0, before), length)
    copy(target, source)
    return out


def outer_first(tensor):
    """channels_last padding stays channels_last; all else is dense."""
    if tensor.dim() == 4 and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last):
        return [0, 2, 3, 1]
    return list(range(tensor.dim()))


def diag_embed__default(self, offset=0, dim1=-2, dim2=-1):
    side = self.shape[-1] + abs(offset)
    rank = self.dim() + 1
    d1, d2 = dimension(dim1, rank), dimension(dim2, rank)
    size = list(self.shape[:-1])
    for d in sorted((d1, d2)):
        size.insert(d, side)
    out = torch.empty(size, dtype=self.dtype)
    fill(view(out), 0)
    copy(view(out).diagonal(offset, d1, d2), view(self))
    return out


def triangle(self, diagonal, upper):
    out = torch.empty(self.shape, dtype=self.dtype)
    rows, columns = self.shape[-2:]
    index = views.scratch((max(rows, columns),), torch.int64)
    views.call("indices", [index], [])
    row = index.with_((rows, 1), (1, 0))
    column = index.with_((columns,), (1,))
    views.pointwise("triangle", view(out), [view(self), row, column], [diagonal, upper])
    return out


def tril__default(self, diagonal=0):
    return triangle(self, diagonal, False)


def triu__default(self, diagonal=0):
    return triangle(self, diagonal, True)


def pixel_shuffle__default(self, upscale_factor):
    r, d = upscale_factor, self.dim() - 3
    channels, height, width = self.shape[-3:]
    parts = view(self).split(d, (channels // r ** 2, r, r))
    order = [*range(d), d, d + 3, d + 1, d + 4, d + 2]
    return copied(parts.permute(order), [*self.shape[:d], channels // r ** 2, height * r, width * r])


def pixel_unshuffle__default(self, downscale_factor):
    r, d = downscale_factor, self.dim() - 3
    channels, height, width = self.shape[-3:]
    parts = view(self).split(d + 2, (width // r, r)).split(d + 1, (height // r, r))
    order = [*range(d), d, d + 2, d + 4, d + 1, d + 3]
    return copied(parts.permute(order), [*self.shape[:d], channels * r ** 2, height // r, width // r])


def channel_shuffle__default(self, groups):
    parts = view(self).split(1, (groups, self.shape[1] // groups))
    return copied(parts.transpose(1, 2), self.shape)


def im2col__default(self, kernel_size, dilation, padding, stride):
    kernel, dilated, padded, strides = ([x, x] if isinstance(x, int) else list(x) * (2 // len(x)) for x in (kernel_size, dilation, padding, stride))
    batched = view(self) if self.dim() == 4 else view(self).unsqueeze(0)
    n, channels, height, width = batched.size
    sides = [s + 2 * p for s, p in zip((height, width), padded)]
    room = views.scratch((n, channels, *sides), self.dtype)
    fill(room, 0)
    copy(room.narrow(2, padded[0], height).narrow(3, padded[1], width), batched)
    places = [(side - dil * (k - 1) - 1) // s + 1 for side, dil, k, s in zip(sides, dilated, kernel, strides)]
    rows, columns = room.stride[2:]
    windows = room.with_((n, channels, *kernel, *places),
                         (*room.stride[:2], rows * dilated[0], columns * dilated[1], rows * strides[0], columns * strides[1]))
    size = (n, channels * math.prod(kernel), math.prod(places))
    return copied(windows, size if self.dim() == 4 else size[1:])


# Made of nothing.

def filled(size, value, dtype, device):
    out = torch.empty(tuple(size), dtype=dtype or torch.get_default_dtype(), device=device)
    fill(view(out), value)
    return out


def filled_like(tensor, value, dtype, memory_format):
    out = like(tensor, dtype, memory_format)
    fill(view(out), value)
    return out


def zeros__default(size, *, dtype=None, layout=None, device=None, pin_memory=None):
    return filled(size, 0, dtype, device)


def ones__default(size, *, dtype=None, layout=None, device=None, pin_memory=None):
    return filled(size, 1, dtype, device)


def full__default(size, fill_value, *, dtype=None, layout=None, device=None, pin_memory=None):
    whole = {bool: torch.bool, int: torch.int64}.get(type(fill_value))
    return filled(size, fill_value, dtype or whole, device)


def zeros_like__default(self, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return filled_like(self, 0, dtype, memory_format)


def ones_like__default(self, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return filled_like(self, 1, dtype, memory_format)


def full_like__default(self, fill_value, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return filled_like(self, fill_value, dtype, memory_format)
