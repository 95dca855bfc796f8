"""A module as an ONNX file: by the exporter of torch.export first, by that of TorchScript where that fails."""
import contextlib
import io
import logging
import os
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


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Exporters tell their own developers' news, on every channel."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


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
            with torch.no_grad(), _quietly():
                export(flat, tuple(t.detach() for t in tensors), sizes, path + ".new")
            os.replace(path + ".new", path)
            return name
        except Exception as error:  # exporters raise what they like
            reasons.append(f"by {name}: {_reason(error)}")
    raise ExportFailed("PyTorch cannot write this module as ONNX (" + "; ".join(reasons) + "). Try it with other example inputs, without caches "
                       "(use_cache=False), or optimize a part of it")
