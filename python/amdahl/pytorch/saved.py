"""save() and load(): a tuned module as a folder, for processes that have neither program nor compiler."""
import json
import os
import shutil
from typing import Optional

import torch

from ..errors import BadUsage, MachineError
from .optimized import OptimizedModule, Signature

_FORMAT = 1


def save(fast: OptimizedModule, path: str) -> str:
    """Writes the folder `path`: kernels, weights, and how the module is called. It may be moved; it runs on processors that have all that this one has."""
    if not isinstance(fast, OptimizedModule):
        raise BadUsage(f"save() takes what optimize() returned, not {type(fast).__name__}")
    ours = os.path.join(path, "module.json")
    if os.path.exists(path) and os.listdir(path) and not os.path.exists(ours):
        raise BadUsage(f"{path} holds something else: name a new folder, or one that save() wrote")
    plans = ["."] if len(fast.plan_folders) == 1 else [f"shape-{i}" for i in range(len(fast.plan_folders))]
    facts = {"format": _FORMAT, "inputs": fast.signature.inputs, "outputs": fast.signature.outputs, "plans": plans}
    new = f"{path.rstrip('/')}.new-{os.getpid()}"
    try:
        for plan, folder in zip(plans, fast.plan_folders):
            shutil.copytree(folder, os.path.join(new, plan))
        with open(os.path.join(new, "module.json"), "w", encoding="utf-8") as file:
            json.dump(facts, file, indent=1)
        shutil.rmtree(path, ignore_errors=True)
        os.rename(new, path)  # whole, or not there
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        raise MachineError(f"cannot write {path}: {error}") from error
    return path


def load(path: str, original: Optional[torch.nn.Module] = None) -> OptimizedModule:
    """What save() wrote. Calls that it was not tuned for need `original`, with the weights that it had then; without, they raise BadInput."""
    try:
        with open(os.path.join(path, "module.json"), encoding="utf-8") as file:
            facts = json.load(file)
    except (OSError, ValueError) as error:
        raise MachineError(f"{path} is no saved module: {error}; name a folder that amdahl.save() wrote") from error
    if facts.get("format") != _FORMAT:
        raise MachineError(f"{path} was saved in version {facts.get('format')} of the format, this package reads {_FORMAT}: take the package that wrote it")
    return OptimizedModule(original, [os.path.join(path, plan) for plan in facts["plans"]], Signature(facts["inputs"], facts["outputs"]))
