"""What a call is made of: tensors, and the tuples, lists, dictionaries and ModelOutputs that hold them.

A structure is written down as JSON can hold it, so that a saved module gives back what the original gave, in a process that need not have the library whose
class that was."""
import dataclasses
import importlib
from collections import OrderedDict, namedtuple
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

import torch

Skeleton = Dict[str, Any]


class Output(OrderedDict):  # type: ignore[type-arg]
    """Stands for a ModelOutput where its library is not there: keys, attributes and positions, as those have."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, key: Any) -> Any:
        return list(self.values())[key] if isinstance(key, (int, slice)) else super().__getitem__(key)

    def to_tuple(self) -> Tuple[Any, ...]:
        return tuple(self.values())


class NotTraceable(TypeError):
    """Something in a call that is neither a tensor nor a constant."""


def _path(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _is_constant(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def describe(value: Any, tensors: List[torch.Tensor]) -> Skeleton:
    """The skeleton of `value`; its tensors are appended to `tensors`."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if _is_constant(value):
        return {"constant": value}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": _path(type(value)), "keys": list(value._fields), "items": [describe(v, tensors) for v in value]}
    if type(value) in (tuple, list):
        return {"tuple" if isinstance(value, tuple) else "list": [describe(v, tensors) for v in value]}
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        kind = "output" if dataclasses.is_dataclass(value) else "dict"
        return {kind: _path(type(value)), "keys": list(value), "items": [describe(v, tensors) for v in value.values()]}
    raise NotTraceable(f"{type(value).__module__}.{type(value).__qualname__} is neither a tensor, nor a number or text, nor a tuple, list or dictionary of those")


def _class_of(path: str, otherwise: type) -> type:
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]
    except (ImportError, AttributeError):
        return otherwise


def builder(skeleton: Skeleton) -> Callable[[Sequence[Any]], Any]:
    """Of the function that puts tensors into the structure."""
    if "tensor" in skeleton:
        number = skeleton["tensor"]
        return lambda tensors: tensors[number]
    if "constant" in skeleton:
        constant = skeleton["constant"]
        return lambda tensors: constant
    parts = [builder(s) for s in skeleton.get("items", skeleton.get("tuple", skeleton.get("list")))]
    if "tuple" in skeleton:
        return lambda tensors: tuple([p(tensors) for p in parts])
    if "list" in skeleton:
        return lambda tensors: [p(tensors) for p in parts]
    keys = skeleton["keys"]
    if "dict" in skeleton:
        kind = _class_of(skeleton["dict"], dict)
        return lambda tensors: kind((k, p(tensors)) for k, p in zip(keys, parts))
    path = skeleton.get("named") or skeleton["output"]
    # A class inside a function, or of a library that is not here.
    cls = _class_of(path, namedtuple(path.rpartition(".")[2].rpartition(":")[2], keys) if "named" in skeleton else Output)
    if cls is Output:
        return lambda tensors: Output((k, p(tensors)) for k, p in zip(keys, parts))
    return lambda tensors: cls(**{k: p(tensors) for k, p in zip(keys, parts)})


def gather(value: Any, skeleton: Skeleton, tensors: List[torch.Tensor]) -> bool:
    """Whether `value` has this structure, constants too; its tensors are appended."""
    if "tensor" in skeleton:
        tensors.append(value)
        return isinstance(value, torch.Tensor)
    if "constant" in skeleton:
        constant = skeleton["constant"]
        return value is constant or (type(value) is type(constant) and bool(value == constant))
    items = skeleton.get("tuple", skeleton.get("list"))
    if items is not None:
        return type(value) is (tuple if "tuple" in skeleton else list) and len(value) == len(items) and all(gather(v, s, tensors) for v, s in zip(value, items))
    if "named" in skeleton:
        return hasattr(value, "_fields") and list(value._fields) == skeleton["keys"] and all(gather(v, s, tensors) for v, s in zip(value, skeleton["items"]))
    return (isinstance(value, Mapping) and len(value) == len(skeleton["keys"])
            and all(k in value and gather(value[k], s, tensors) for k, s in zip(skeleton["keys"], skeleton["items"])))
