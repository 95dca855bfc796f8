"""Tensors as the library sees them: an address, a type, sizes and strides, which are turned, cut and repeated here without touching a number."""
import ctypes
import math
import os

import torch

MOST_DIMENSIONS = 16
TYPES = {torch.bool: 0, torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.bfloat16: 6, torch.float32: 7, torch.float64: 8}
BYTES = {torch.bool: 1, torch.uint8: 1, torch.int8: 1, torch.int16: 2, torch.int32: 4, torch.int64: 8, torch.bfloat16: 2, torch.float32: 4, torch.float64: 8, torch.uint64: 8}


class Descriptor(ctypes.Structure):
    """library/tensor.h: Tensor"""
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("size", ctypes.c_int64 * MOST_DIMENSIONS), ("stride", ctypes.c_int64 * MOST_DIMENSIONS)]


def dimension(d, rank):
    """Counted from the front."""
    if not -max(rank, 1) <= d < max(rank, 1):
        raise IndexError(f"dimension {d} is out of range: the tensor has {rank}")
    return d + max(rank, 1) if d < 0 else d


class View:
    """Part of a tensor's memory; the tensor is kept alive by it."""
    __slots__ = ("owner", "at", "dtype", "size", "stride")

    def __init__(self, owner, at, dtype, size, stride):
        self.owner, self.at, self.dtype, self.size, self.stride = owner, at, dtype, tuple(size), tuple(stride)

    def with_(self, size, stride, elements=0):
        return View(self.owner, self.at + elements * BYTES[self.dtype], self.dtype, size, stride)

    @property
    def rank(self):
        return len(self.size)

    def count(self):
        return math.prod(self.size)

    def expand(self, size):
        """Repeated to a size of at least as many dimensions."""
        front = len(size) - self.rank
        if front < 0 or any(s not in (1, size[front + d]) for d, s in enumerate(self.size)):
            raise RuntimeError(f"size {self.size} does not expand to {tuple(size)}")
        stride = [0] * front + [0 if s == 1 and size[front + d] != 1 else self.stride[d] for d, s in enumerate(self.size)]
        return self.with_(size, stride)

    def permute(self, dims):
        return self.with_([self.size[d] for d in dims], [self.stride[d] for d in dims])

    def transpose(self, a, b):
        dims = list(range(self.rank))
        dims[a], dims[b] = dims[b], dims[a]
        return self.permute(dims)

    def move_last(self, dims):
        """The others in front, in their order."""
        return self.permute([d for d in range(self.rank) if d not in dims] + list(dims))

    def unsqueeze(self, d):
        return self.with_([*self.size[:d], 1, *self.size[d:]], [*self.stride[:d], 0, *self.stride[d:]])

    def select(self, d, index):
        return self.with_(self.size[:d] + self.size[d + 1:], self.stride[:d] + self.stride[d + 1:], index * self.stride[d])

    def narrow(self, d, start, length, step=1):
        size, stride = list(self.size), list(self.stride)
        size[d], stride[d] = length, stride[d] * step
        return self.with_(size, stride, start * self.stride[d])

    def flip(self, dims):
        view = self
        for d in dims:
            if view.size[d]:
                view = view.narrow(d, view.size[d] - 1, view.size[d], -1)
        return view

    def split(self, d, sizes):
        """One dimension as several."""
        strides, step = [], self.stride[d]
        for s in reversed(sizes):
            strides.insert(0, step)
            step *= s
        return self.with_([*self.size[:d], *sizes, *self.size[d + 1:]], [*self.stride[:d], *strides, *self.stride[d + 1:]])

    def diagonal(self, offset, d1, d2):
        """Its dimension is the last."""
        d1, d2 = dimension(d1, self.rank), dimension(d2, self.rank)
        length = max(0, min(self.size[d1], self.size[d2] - offset) if offset >= 0 else min(self.size[d1] + offset, self.size[d2]))
        start = offset * self.stride[d2] if offset >= 0 else -offset * self.stride[d1]
        rest = [d for d in range(self.rank) if d not in (d1, d2)]
        return self.with_([*(self.size[d] for d in rest), length], [*(self.stride[d] for d in rest), self.stride[d1] + self.stride[d2]], start if length else 0)

    def unfold(self, d, size, step):
        windows = (self.size[d] - size) // step + 1
        return self.with_([*self.size[:d], windows, *self.size[d + 1:], size], [*self.stride[:d], self.stride[d] * step, *self.stride[d + 1:], self.stride[d]])

    def as_type(self, dtype):
        """The same bytes."""
        return View(self.owner, self.at, dtype, self.size, self.stride)


def view(tensor):
    return View(tensor, tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())


def dense_strides(size):
    strides, step = [], 1
    for s in reversed(size):
        strides.insert(0, step)
        step *= max(s, 1)
    return strides


def scratch(size, dtype):
    """Memory of our own, dense."""
    return view(torch.empty(tuple(size), dtype=dtype))


def library():
    if not _library:
        loaded = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libaten.so"))
        loaded.amdahl_aten_call.argtypes = [ctypes.c_char_p, ctypes.POINTER(Descriptor), ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_double),
                                            ctypes.c_char_p, ctypes.c_int]
        _library.append(loaded)
    return _library[0]


_library = []


def call(kernel, outs, ins, reals=(), outer=0):
    """Runs it: outs and ins are Views, whose first `outer` dimensions agree (all of a kernel of single numbers)."""
    views = [*outs, *ins]
    descriptors = (Descriptor * len(views))()
    for descriptor, v in zip(descriptors, views):
        if v.owner.device.type != "cpu":
            raise RuntimeError(f"these kernels are for the processor, not for {v.owner.device}")
        descriptor.data, descriptor.type, descriptor.rank = v.at, TYPES[v.dtype], len(v.size)
        descriptor.size[:len(v.size)] = v.size
        descriptor.stride[:len(v.stride)] = v.stride
    said = ctypes.create_string_buffer(300)
    parameters = (ctypes.c_double * max(1, len(reals)))(*map(float, reals))
    if library().amdahl_aten_call(kernel.encode(), descriptors, len(views), len(outs), outer, parameters, said, 300):
        raise RuntimeError(f"{kernel}: {said.value.decode()}")


def pointwise(kernel, out, ins, reals=()):
    """Over single numbers; ins are repeated to out's size."""
    call(kernel, [out], [v.expand(out.size) for v in ins], reals)


def copy(out, source):
    """Bytes where the types agree, else numbers."""
    source = source.expand(out.size)
    call("move" if out.dtype == source.dtype else "copy", [out], [source], outer=0)


def fill(out, value):
    call("fill", [out], [], [value])


def value(source):
    """Of a tensor of one number, to Python."""
    if source.count() != 1:
        raise RuntimeError(f"a tensor of {source.count()} numbers has no single value")
    whole = not source.dtype.is_floating_point
    kept = scratch((), torch.int64 if whole else torch.float64)
    call("copy", [kept], [source.with_((), ())])
    number = (ctypes.c_int64 if whole else ctypes.c_double).from_address(kept.at).value
    return bool(number) if source.dtype == torch.bool else number
