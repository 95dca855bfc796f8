"""save() and load(): a tuned module as a folder, for processes that have neither program nor compiler."""
import hashlib
import json
import os
import shutil
from typing import Any, Dict, List, Optional, Union

import torch

from ..errors import BadUsage, MachineError
from ..plan import files_of, require_files
from .optimized import OptimizedModule, Signature

_FORMAT = 2
_KIND = "amdahl module"
Path = Union[str, "os.PathLike[str]"]


def weights_digest(module: torch.nn.Module) -> str:
    """Of all parameters and buffers, by name, type, shape and bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for name, t in sorted([*module.named_parameters(), *module.named_buffers()]):
        digest.update(f"{name} {t.dtype} {list(t.shape)}\n".encode())
        digest.update(t.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data if t.numel() and t.dim() else repr(t.tolist()).encode())
    return digest.hexdigest()


def _facts_of(folder: str) -> Dict[str, Any]:
    """module.json, or MachineError that says what it lacks."""
    try:
        with open(os.path.join(folder, "module.json"), encoding="utf-8") as file:
            facts = json.load(file)
        if facts["kind"] != _KIND or facts["format"] != _FORMAT:
            raise MachineError(f"{folder} was saved in version {facts['format']} of the format, this package reads {_FORMAT}: save it again with this package")
        if not facts["plans"] or not {"inputs", "outputs", "files"} <= set(facts):
            raise KeyError("plans")
        return facts  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise MachineError(f"{folder} is no saved module, or damaged: {type(error).__name__} {error}; name a folder that amdahl.save() wrote") from error


def _require_ours(folder: str) -> None:
    """That nothing lies there but what save() wrote: it is replaced as a whole."""
    if not os.path.exists(folder):
        return
    if not os.path.isdir(folder):
        raise BadUsage(f"{folder} is a file: name a new folder, or one that save() wrote")
    there = files_of(folder)
    if not there:
        return
    try:
        ours = {*_facts_of(folder)["files"], "module.json"}
    except MachineError:
        ours = set()
    strange = sorted(set(there) - ours)
    if strange:
        raise BadUsage(f"{folder} holds something else ({strange[0]}): name a new folder, or one that save() wrote and nobody added to")


def save(fast: OptimizedModule, path: Path) -> str:
    """Writes the folder `path`: kernels, weights, and how the module is called. It may be moved; it runs on processors that have all that this one has. What save()
    wrote there before is replaced."""
    if not isinstance(fast, OptimizedModule):
        raise BadUsage(f"save() takes what optimize() returned, not {type(fast).__name__}")
    folder = os.fspath(path).rstrip("/") or "/"
    _require_ours(folder)
    if not fast.is_unchanged():
        raise BadUsage("the original's weights or parts have changed since it was tuned, and the plan has those of before: refresh(), then save")
    plans = ["."] if len(fast.plan_folders) == 1 else [f"shape-{i}" for i in range(len(fast.plan_folders))]
    new = f"{folder}.new-{os.getpid()}"
    try:
        for plan, of_plan in zip(plans, fast.plan_folders):
            shutil.copytree(of_plan, os.path.join(new, plan))
        facts = {"kind": _KIND, "format": _FORMAT, "inputs": fast.signature.inputs, "outputs": fast.signature.outputs, "plans": plans, "files": files_of(new),
                 "weights": weights_digest(fast.original) if fast.original is not None else None}
        with open(os.path.join(new, "module.json"), "w", encoding="utf-8") as file:
            json.dump(facts, file, indent=1)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(new, folder)  # whole, or not there
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        raise MachineError(f"cannot write {folder}: {error}") from error
    return folder


def load(path: Path, original: Optional[torch.nn.Module] = None) -> OptimizedModule:
    """What save() wrote. Calls that it was not tuned for need `original`, in eval() and with the weights that it had then; without, they raise BadInput."""
    folder = os.fspath(path)
    facts = _facts_of(folder)
    require_files(folder, facts["files"])
    if original is not None:
        _require_same(folder, facts, original)
    plans: List[str] = [os.path.join(folder, plan) for plan in facts["plans"]]
    try:
        signature = Signature(facts["inputs"], facts["outputs"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise MachineError(f"{folder} is damaged: module.json does not say how the module is called; save it again") from error
    return OptimizedModule(original, plans, signature)


def _require_same(folder: str, facts: Dict[str, Any], original: torch.nn.Module) -> None:
    if any(part.training for part in original.modules()):
        raise BadUsage("the original is in training mode: call original.eval() first")
    if facts.get("weights") and weights_digest(original) != facts["weights"]:
        raise BadUsage(f"the original has other weights than the module that was saved in {folder}: load those into it first, or optimize it anew")
