"""The folder in which all that is kept lies: sessions and plans of modules here, compiled kernels and what was learnt the program's own."""
import os

from .errors import MachineError


def cache_dir() -> str:
    """`AMDAHL_CACHE`, else `XDG_CACHE_HOME/amdahl`, else `~/.cache/amdahl`: the program's rule. It may be removed at any time; what is gone is tuned again."""
    if os.environ.get("AMDAHL_CACHE"):
        return os.environ["AMDAHL_CACHE"]
    if os.environ.get("XDG_CACHE_HOME"):
        return os.path.join(os.environ["XDG_CACHE_HOME"], "amdahl")
    if os.environ.get("HOME"):
        return os.path.join(os.environ["HOME"], ".cache", "amdahl")
    return "/tmp/amdahl-cache"


def python_folder() -> str:
    """Of all modules."""
    folder = os.path.join(cache_dir(), "python")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise MachineError(f"cannot make the cache folder {folder}: {error.strerror}; let AMDAHL_CACHE name one that can be written") from error
    return folder


def module_folder(key: str) -> str:
    """Of one module with its weights and options: its ONNX file, its session, its plan."""
    folder = os.path.join(python_folder(), key)
    os.makedirs(folder, exist_ok=True)
    return folder
