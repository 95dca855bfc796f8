"""Whether a module's weights are still those that a plan was made of."""
import weakref
from operator import attrgetter
from typing import Any, List, Optional, Set, Tuple

import torch
from torch.nn.modules import module as torch_modules

from .layout import Layout

PLAIN = (torch.Tensor, torch.nn.Parameter)  # subclasses hold their numbers elsewhere, compute something else, or trace
_version = attrgetter("_version")
_address = torch.Tensor.data_ptr


def held_tensors(module: torch.nn.Module) -> List[torch.Tensor]:
    """Parameters and buffers, each once."""
    return list({id(t): t for t in [*module.parameters(), *module.buffers()]}.values())


class WeightWatch:
    """In-place changes count a tensor's version up; `p.data = …` and `module.to(…)` move its address; another Parameter in its place is told by PyTorch. Only
    writing through `p.data` or an array of NumPy that shares the memory is seen by nothing but the bytes: that is what `refresh()` is for."""

    def __init__(self, module: torch.nn.Module, layout: Optional[Layout] = None) -> None:
        """With a layout `words` are to be looked at by others (Plan.watch), and unchanged() tells of nothing but other Parameters."""
        self._tensors = held_tensors(module)
        if any(type(t) not in PLAIN or t.layout is not torch.strided or not t.is_cpu for t in self._tensors):
            layout = None
        self._storages = [t.untyped_storage() for t in self._tensors] if layout else []
        self.words = [word for t in self._tensors for word in layout.words_of(t)] if layout else []
        # Tensors that inference mode made have no version; those cannot be changed outside of it.
        self._counted = [t for t in self._tensors if not t.is_inference()]
        self._versions = self._sum()
        self._addresses = self._places()
        self._replaced = False
        for part in module.modules():
            _watches.setdefault(part, weakref.WeakSet()).add(self)
        _listen()

    def _sum(self) -> int:
        return sum(map(_version, self._counted))  # each only ever grows

    def _places(self) -> Tuple[int, ...]:
        return tuple(map(_address, self._tensors))

    def unchanged(self) -> bool:
        return not self._replaced and (bool(self.words) or (self._sum() == self._versions and self._places() == self._addresses))

    def replaced(self) -> None:
        self._replaced = True


_watches: "weakref.WeakKeyDictionary[torch.nn.Module, weakref.WeakSet[WeightWatch]]" = weakref.WeakKeyDictionary()
_listening: Set[str] = set()


def _told(module: torch.nn.Module, name: str, value: Any) -> None:
    for watch in _watches.get(module, ()):
        watch.replaced()


def _listen() -> None:
    """Once a process."""
    for kind in ("parameter", "buffer"):
        if kind not in _listening:
            _listening.add(kind)
            getattr(torch_modules, f"register_module_{kind}_registration_hook")(_told)
