"""Whether a module is still the one that a plan was made of: its weights, its parts, and what else its forward may read."""
import weakref
from operator import attrgetter
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

import torch
from torch.nn import Module
from torch.optim.optimizer import register_optimizer_step_post_hook

from .layout import Layout

PLAIN = (torch.Tensor, torch.nn.Parameter)  # subclasses hold their numbers elsewhere, compute something else, or trace
_version = attrgetter("_version")
_address = torch.Tensor.data_ptr

# What a Module keeps in dictionaries of its own, compared by what they hold.
_HELD = ("_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks")
# And what no forward reads.
_PLUMBING = {*_HELD, "_non_persistent_buffers_set", "_backward_pre_hooks", "_backward_hooks", "_is_full_backward_hook", "_forward_hooks_with_kwargs",
             "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
             "_load_state_dict_post_hooks", "_compiled_call_impl"}


def _tensors_in(value: Any, depth: int = 3) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif depth and isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors_in(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from _tensors_in(item, depth - 1)


def held_tensors(module: Module) -> List[torch.Tensor]:
    """Parameters, buffers, and tensors that are attributes or lie in lists and dictionaries that are; each once."""
    plain = [t for part in module.modules() for name, value in part.__dict__.items() if name not in _PLUMBING for t in _tensors_in(value)]
    return list({id(t): t for t in [*module.parameters(), *module.buffers(), *plain]}.values())


def name_of_tensor(module: Module, tensor: torch.Tensor) -> str:
    return next((name for name, t in [*module.named_parameters(), *module.named_buffers()] if t is tensor), "a tensor among its attributes")


class _Part:
    """What one module of the tree holds, as it was."""

    def __init__(self, name: str, module: Module) -> None:
        self.name, self.module, self.kind = name, module, type(module)
        self.held = {key: dict(module.__dict__.get(key) or {}) for key in _HELD}
        # A graph of torch.fx has its code there, which is made when it is first needed, and reads nothing else.
        self.plain = {} if isinstance(module, torch.fx.GraphModule) else {key: value for key, value in module.__dict__.items() if key not in _PLUMBING}

    def changed(self) -> Optional[str]:
        """What is different now."""
        here = (lambda name: f"{self.name}.{name}" if self.name else name)
        now = self.module.__dict__
        if type(self.module) is not self.kind:
            return here("__class__")
        for key, held in self.held.items():
            after = now.get(key) or {}
            for name in [*held, *[n for n in after if n not in held]]:
                if name not in held or name not in after or held[name] is not after[name]:
                    return here(key if key.endswith("hooks") else name)
        if "forward" in now and "forward" not in self.plain:
            return here("forward")
        for name, before in self.plain.items():  # what is new is a cache, or nothing that forward knew
            if name not in now or not _is_same(before, now[name]):
                return here(name)
        return None


def _is_same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (bool, int, float, str)) and a == b)


class ModuleState:
    """In-place changes count a tensor's version up, and `p.data = …` or `module.to(…)` moves its address. Whatever is set, deleted, hooked or converted in one of the parts is
    told by PyTorch's own methods, which this module listens to; an optimizer's step counts as a change of what it steps. Then all parts are compared with what they were.

    Nothing tells of numbers that are written without a version: through `p.data`, NumPy's view of the memory, `untyped_storage()`, another process that shares it, or a
    collective of torch.distributed; nor of what is changed inside a list, dictionary or object that is an attribute. That is what `refresh()` is for."""

    def __init__(self, module: Module, layout: Optional[Layout] = None) -> None:
        """With a layout `words` are to be looked at by others (Plan.watch), which asks no tensor from Python."""
        self._module = module
        self.tensors = held_tensors(module)
        if any(type(t) not in PLAIN or t.layout is not torch.strided or not t.is_cpu for t in self.tensors):
            layout = None
        self._storages = [t.untyped_storage() for t in self.tensors] if layout else []
        self.words = [word for t in self.tensors for word in layout.words_of(t)] if layout else []
        self._counted = [t for t in self.tensors if not t.is_inference()]
        self._numbers = self._numbers_now()
        self._written = False
        self.settle()
        _listen()
        for part in module.modules():
            _watch(part, self)
        for t in self.tensors:
            _owners.setdefault(id(t), weakref.WeakSet()).add(self)

    def settle(self) -> None:
        """The parts as they are now are those that count: an export leaves traces in them."""
        self._parts = [_Part(name, part) for name, part in self._module.named_modules()]
        self._told = False

    def _numbers_now(self) -> Tuple[int, Tuple[int, ...]]:
        return sum(map(_version, self._counted)), tuple(map(_address, self.tensors))  # each version only ever grows

    def numbers_moved(self) -> bool:
        """Whether a tensor was written or moved since the beginning, as far as its version and address say."""
        return self._written or self._numbers_now() != self._numbers

    def unchanged(self) -> bool:
        """With `words`, tells of nothing that those tell of."""
        return not self._written and (not self._told or self._look()) and (bool(self.words) or self._numbers_now() == self._numbers)

    def _look(self) -> bool:
        self._told = self.what_changed() is not None
        return not self._told

    def what_changed(self) -> Optional[str]:
        """A part's name for it, or None: only numbers can have changed."""
        if [part.module for part in self._parts] != list(self._module.modules()):
            return next((c for c in (part.changed() for part in self._parts) if c), "its parts")
        return next((c for c in (part.changed() for part in self._parts) if c), None)

    def tell(self) -> None:
        self._told = True

    def written(self) -> None:
        """For good: what was written is not known."""
        self._written = True

    @property
    def first(self) -> Optional[Tuple[Dict[str, Any], str, Any]]:
        """Where the first parameter lies: what is put in the place of all of them (torch.func.functional_call) is put there."""
        for part in self._module.modules():
            for name, value in part._parameters.items():
                if value is not None:
                    return part._parameters, name, value
        return None


_watched: Set[int] = set()
_states: "weakref.WeakKeyDictionary[Module, weakref.WeakSet[ModuleState]]" = weakref.WeakKeyDictionary()
_owners: "Dict[int, weakref.WeakSet[ModuleState]]" = {}  # of a tensor's id; the states hold the tensors
_listening = False


def _watch(part: Module, state: ModuleState) -> None:
    if id(part) not in _watched:
        _watched.add(id(part))
        weakref.finalize(part, _watched.discard, id(part))
    _states.setdefault(part, weakref.WeakSet()).add(state)


def _tell(part: Module) -> None:
    for state in _states.get(part, ()):
        state.tell()


def _telling(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of Module that says so afterwards, of modules that somebody watches."""
    import functools

    @functools.wraps(method)
    def told(self: Module, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        if id(self) in _watched:
            _tell(self)
        return result
    return told


def _stepped(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Fused optimizers write without counting a version up."""
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is None:
                continue  # it was passed over
            for state in list(_owners.get(id(p), ())):
                if any(p is t for t in state.tensors):
                    state.written()


def _listen() -> None:
    """Once a process: PyTorch tells of parameters, buffers and modules that are registered, and of nothing else that forward reads."""
    global _listening
    if _listening:
        return
    _listening = True
    for name in ("__setattr__", "__delattr__", "_apply", "register_forward_hook", "register_forward_pre_hook", "register_buffer", "register_parameter",
                 "register_module", "add_module"):
        setattr(Module, name, _telling(getattr(Module, name)))
    register_optimizer_step_post_hook(_stepped)
