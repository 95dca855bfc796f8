"""As much of PyTorch as exported modules use (export/cuda_python_templates), on the fake driver (fake_cuda_driver.h): tensors in the fake card's memory, streams,
captures, operators by the device of their inputs. What a test wants to see of it is at the end."""
import contextlib
import ctypes
import math
import types

_driver = ctypes.CDLL("libcuda.so.1")  # by LD_LIBRARY_PATH


def _ask(name, *arguments):
    result = getattr(_driver, name)(*arguments)
    assert result == 0, (name, result)


def _made(name, *arguments):
    handle = ctypes.c_void_p()
    _ask(name, ctypes.byref(handle), *arguments)
    return handle


_ask("cuInit", 0)
_ask("cuCtxSetCurrent", _made("cuDevicePrimaryCtxRetain", 0))


# ---- tensors: memory is cut from one block, as a capture allows no allocation

_BLOCK_BYTES = 1 << 20
_next = _made("cuMemAlloc_v2", ctypes.c_size_t(_BLOCK_BYTES)).value
_end = _next + _BLOCK_BYTES


class dtype:
    def __init__(self, name, itemsize):
        self.name, self.itemsize = name, itemsize

    def __repr__(self):
        return "torch." + self.name


for _name, _size in [("float32", 4), ("float64", 8), ("float16", 2), ("bfloat16", 2), ("int8", 1), ("int16", 2), ("int32", 4), ("int64", 8), ("uint8", 1), ("bool", 1)]:
    globals()[_name] = dtype(_name, _size)


class device:
    def __new__(cls, text):
        if isinstance(text, cls):
            return text
        self = super().__new__(cls)
        self.type, _, number = text.partition(":")
        self.index = int(number) if number else None
        return self

    def __eq__(self, other):
        return (self.type, self.index) == (other.type, other.index)

    def __repr__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"


class Tensor:
    """`address` is None of a meta tensor. A strided one has its `elements` elsewhere than in a row behind its address."""

    def __init__(self, shape, dtype, device, address, elements=None):
        self.shape, self.dtype, self.device, self._address, self._elements = tuple(shape), dtype, device, address, elements
        self.nbytes = math.prod(shape) * dtype.itemsize

    def data_ptr(self):
        return self._address

    def contiguous(self):
        return self if self._elements is None else self.clone()

    def clone(self):
        copy = empty(self.shape, self.dtype, self.device)
        copy.write(self.read())
        return copy

    def read(self):
        return ctypes.string_at(self._address, self.nbytes) if self._elements is None else self._elements

    def write(self, content):
        assert len(content) == self.nbytes
        ctypes.memmove(self._address, content, self.nbytes)
        return self


def empty(shape, dtype, device, shifted_by=0):
    global _next
    if device.type == "meta":
        return Tensor(shape, dtype, device, None)
    made = Tensor(shape, dtype, device, _next + shifted_by)
    _next += (made.nbytes + shifted_by + 511) // 512 * 512
    assert _next <= _end, "the fake card's memory is used up"
    return made


# ---- streams

class Stream:
    def __init__(self, handle=None):
        self.cuda_stream = handle if handle is not None else _made("cuStreamCreate", 0).value
        self.waited_for = []

    def wait_stream(self, other):
        self.waited_for.append(other)


_current = [Stream(0)]
_captures = []


@contextlib.contextmanager
def _on_stream(stream):
    _current.append(stream)
    yield
    _current.pop()


@contextlib.contextmanager
def _captured(graph):
    stream = Stream()
    _ask("cuStreamBeginCapture_v2", ctypes.c_void_p(stream.cuda_stream), 0)
    _captures.append(graph)
    try:
        with _on_stream(stream):
            yield
    finally:
        _captures.pop()
        graph.end(stream)


class CUDAGraph:
    def end(self, stream):
        graph = _made_of("cuStreamEndCapture", stream.cuda_stream)
        self._executable = ctypes.c_void_p()
        _ask("cuGraphInstantiateWithFlags", ctypes.byref(self._executable), graph, ctypes.c_ulonglong(0))

    def replay(self):
        _ask("cuGraphLaunch", self._executable, None)


def _made_of(name, stream):
    handle = ctypes.c_void_p()
    _ask(name, ctypes.c_void_p(stream), ctypes.byref(handle))
    return handle


cuda = types.SimpleNamespace(
    CUDAGraph=CUDAGraph, Stream=Stream, current_device=lambda: 0, current_stream=lambda: _current[-1], device=lambda _: contextlib.nullcontext(),
    graph=_captured, is_current_stream_capturing=lambda: len(_captures) > 0, stream=_on_stream)


# ---- operators and modules

_schemas, _kernels = {}, {}


def _define(name, schema, tags=()):
    assert name not in _schemas, f"{name} is there already"
    _schemas[name] = schema


def _register(name, device_type, function):
    assert name in _schemas
    _kernels[name, device_type] = function


class _Operators:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        full = f"{self._name}::{name}"
        return lambda inputs: _kernels[full, inputs[0].device.type](inputs)


class _Namespaces:
    def __getattr__(self, name):
        return _Operators(name)


class _Module:
    def __call__(self, *inputs):
        return self.forward(*inputs)


library = types.SimpleNamespace(define=_define, impl=_register, register_fake=lambda name, function: _register(name, "meta", function))
ops = _Namespaces()
nn = types.SimpleNamespace(Module=_Module)
Tag = types.SimpleNamespace(pt2_compliant_tag="pt2_compliant_tag")


# ---- for tests

def on_card(content, shape, dtype, shifted_by=0, is_strided=False):
    tensor = empty(shape, dtype, device("cuda:0"), shifted_by).write(bytes(len(content)) if is_strided else content)
    tensor._elements = content if is_strided else None
    return tensor


def names_of_operators():
    return sorted(_schemas)
