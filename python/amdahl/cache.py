"""The folder in which all that is kept lies: sessions and plans of modules here, compiled kernels and what was learnt the program's own."""
import os


def cache_dir() -> str:
    """`AMDAHL_CACHE`, else `XDG_CACHE_HOME/amdahl`, else `~/.cache/amdahl`: the program's rule. It may be removed at any time; what is gone is tuned again."""
    if os.environ.get("AMDAHL_CACHE"):
        return os.environ["AMDAHL_CACHE"]
    if os.environ.get("XDG_CACHE_HOME"):
        return os.path.join(os.environ["XDG_CACHE_HOME"], "amdahl")
    if os.environ.get("HOME"):
        return os.path.join(os.environ["HOME"], ".cache", "amdahl")
    return "/tmp/amdahl-cache"


def module_folder(key: str) -> str:
    """Of one module with its weights and options: its ONNX file, its session, its plan."""
    folder = os.path.join(cache_dir(), "python", key)
    os.makedirs(folder, exist_ok=True)
    return folder
