"""A module as an ONNX file: by the exporter of torch.export first, by that of TorchScript where that fails."""
import contextlib
import io
import logging
import os
import signal
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import torch

from ..errors import ExportFailed
from .structure import Skeleton, builder, describe

# Of each tensor that goes in: dimensions that are left open, with a name for what is always of one size.
OpenSizes = List[Dict[int, str]]
Exporter = Callable[["Flat", Tuple[torch.Tensor, ...], OpenSizes, str], None]


class Flat(torch.nn.Module):
    """The module as exporters like it best: tensors in, a tuple of tensors out."""

    def __init__(self, module: torch.nn.Module, inputs: Skeleton) -> None:
        super().__init__()
        self.module = module
        self._inputs = builder(inputs)

    def forward(self, *tensors: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        args, kwargs = self._inputs(tensors)
        out: List[torch.Tensor] = []
        describe(self.module(*args, **kwargs), out)
        return tuple(out)


def _names(prefix: str, count: int) -> List[str]:
    return [f"{prefix}{i}" for i in range(count)]


def _by_torch_export(flat: Flat, tensors: Tuple[torch.Tensor, ...], sizes: OpenSizes, path: str) -> None:
    options: Any = {}
    if any(sizes):
        dims = {name: torch.export.Dim(name) for of in sizes for name in of.values()}
        options["dynamic_shapes"] = (tuple({d: dims[name] for d, name in of.items()} for of in sizes),)  # of *tensors
    program = torch.onnx.export(flat, tensors, dynamo=True, verbose=False, input_names=_names("in", len(tensors)), **options)
    assert program is not None
    for node in program.model.graph:  # where in the user's source a node comes from: a moved line is not another model
        node.metadata_props.clear()
    program.save(path, external_data=_is_large(flat))


def _by_torch_script(flat: Flat, tensors: Tuple[torch.Tensor, ...], sizes: OpenSizes, path: str) -> None:
    options: Any = {"input_names": _names("in", len(tensors)), "opset_version": 17, "dynamic_axes": {f"in{i}": of for i, of in enumerate(sizes) if of}}
    torch.onnx.export(flat, tensors, path, dynamo=False, **options)


def _is_large(module: torch.nn.Module) -> bool:
    """A message of protobuf holds 2 GiB at most."""
    return sum(t.numel() * t.element_size() for t in [*module.parameters(), *module.buffers()]) > 1_800_000_000


# Channels of output, levels and warnings are the whole process's: two that take them away at once would put back what the other has put there.
_one_at_a_time = threading.Lock()


@contextlib.contextmanager
def _silent_descriptors() -> Iterator[None]:
    """What is written by C++, past Python: a graph that cannot be exported is printed there, on hundreds of lines."""
    kept: List[Tuple[int, int]] = []
    try:
        for number in (1, 2):
            with contextlib.suppress(OSError):  # closed: nothing to take away
                kept.append((number, os.dup(number)))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number, _ in kept:
            os.dup2(nowhere, number)
        os.close(nowhere)
        yield
    finally:
        for number, copy in kept:
            os.dup2(copy, number)
            os.close(copy)


@contextlib.contextmanager
def _quietly() -> Iterator[List[warnings.WarningMessage]]:
    """Exporters tell their own developers' news, on every channel. Gives the warnings."""
    with _one_at_a_time:
        before = logging.root.manager.disable
        logging.disable(logging.WARNING)
        try:
            with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), _silent_descriptors():
                warnings.simplefilter("always")
                yield said
        finally:
            logging.disable(before)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C is never lost: exporters catch it somewhere, take it for a failure of theirs, and go on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield
        return
    caught: List[Any] = []

    def catch(number: int, frame: Any) -> None:
        caught.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, catch)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if caught and before is signal.default_int_handler:
            raise KeyboardInterrupt


def _decided_while_traced(said: List[warnings.WarningMessage]) -> str:
    """What a trace has written down as if it were the same for all inputs; "" where nothing was."""
    for warning in said:
        if issubclass(warning.category, torch.jit.TracerWarning) and "might cause the trace to be incorrect" in str(warning.message):
            return f"a trace would fix what this call's numbers decide: {str(warning.message).splitlines()[0]}"
    return ""


def _reason(error: BaseException) -> str:
    """The line of an exporter's essay that says something: of the first cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}"[:300]


def write_onnx(module: torch.nn.Module, inputs: Skeleton, tensors: Sequence[torch.Tensor], sizes: OpenSizes, path: str) -> str:
    """Writes `path`, inputs called in0, in1, …; returns which exporter did. Raises ExportFailed with both reasons."""
    flat = Flat(module, inputs)
    flat.training = False  # as the module itself is
    exporters: List[Tuple[str, Exporter]] = [("torch.export", _by_torch_export), ("TorchScript", _by_torch_script)]
    reasons = []
    for name, export in exporters:
        try:
            with torch.no_grad(), _interruptible(), _quietly() as said:
                export(flat, tuple(t.detach() for t in tensors), sizes, path + ".new")
        except Exception as error:  # exporters raise what they like
            reasons.append(f"by {name}: {_reason(error)}")
            continue
        fixed = _decided_while_traced(said) if export is _by_torch_script else ""
        if fixed:
            reasons.append(f"by {name}: {fixed}")
            continue
        os.replace(path + ".new", path)
        if reasons:
            warnings.warn(f"amdahl: exported by {name}, which writes down one way through the module and knows less of PyTorch's arithmetic, since torch.export cannot ({reasons[0]}): "
                          "hold its results against the original's on inputs unlike the example", RuntimeWarning, stacklevel=2)
        return name
    raise ExportFailed("PyTorch cannot write this module as ONNX (" + "; ".join(reasons) + "). Try it with other example inputs, without caches "
                       "(use_cache=False), or optimize a part of it")
