"""Amdahl: makes a neural network faster on this machine, and proves it.

    import amdahl
    fast = amdahl.optimize(module, example_inputs, minutes=10)      # a torch.nn.Module with the same signature
    session = amdahl.tune("model.onnx", minutes=10)                 # needs no PyTorch

PyTorch is imported by what needs it: optimize(), save(), load(), and torch.compile(module, backend="amdahl").
"""
from typing import Any

from .cache import cache_dir
from .errors import (AmdahlError, BadInput, BadModel, BadUsage, ExportFailed, Interrupted, MachineError, NoCompiler, NoDevice, NotVerified, SessionBusy,
                     SessionDamaged, SessionMismatch, Unsupported, UnsetDimension)
from .plan import Plan
from .session import Report, Session, tune

_OLDEST_PYTORCH = [2, 5]
_OF_PYTORCH = {"optimize": "optimize", "OptimizedModule": "optimized", "save": "saved", "load": "saved"}

__all__ = ["AmdahlError", "BadInput", "BadModel", "BadUsage", "ExportFailed", "Interrupted", "MachineError", "NoCompiler", "NoDevice", "NotVerified", "Plan",
           "Report", "Session", "SessionBusy", "SessionDamaged", "SessionMismatch", "Unsupported", "UnsetDimension", "cache_dir", "tune", *_OF_PYTORCH]


def __getattr__(name: str) -> Any:
    if name not in _OF_PYTORCH:
        raise AttributeError(f"module 'amdahl' has no attribute '{name}'")
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"amdahl.{name} needs PyTorch, which this Python does not have: pip install torch (amdahl.tune() needs none)") from error
    if [int(n) for n in torch.__version__.split(".")[:2]] < _OLDEST_PYTORCH:
        raise ImportError(f"amdahl.{name} needs PyTorch 2.5 or newer, this is {torch.__version__}: pip install -U torch (amdahl.tune() needs none)")
    import importlib
    found = globals()[name] = getattr(importlib.import_module(f".pytorch.{_OF_PYTORCH[name]}", __name__), name)
    return found
