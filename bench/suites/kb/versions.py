"""What the figures were made with."""
import importlib.metadata
import os
import platform
import shlex
import sys
import time

from processes import program

PACKAGES = ("torch", "onnxscript", "onnx", "onnxruntime", "numpy", "einops")


def cpu():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown CPU")


def of_packages():
    installed = {d.name: d.version for d in importlib.metadata.distributions()}
    return {"python": platform.python_version(), **{name: installed[name] for name in PACKAGES if name in installed}}


def of_program(path):
    return program(path, "--version", "--json", seconds=60)


def build(facts):
    """Which build of the program it was."""
    return facts["commit"] or facts["version"]


def command(words):
    """As it was typed, without this machine's folders."""
    shown, hide = ["bench/suites/kernelbench"], False
    for word in words:
        shown.append("DIR" if hide else word)
        hide = word in ("--checkout", "--folder", "--json")
    return shlex.join(shown)


def provenance(path, kernelbench, threads):
    now = time.localtime()
    return {"bench": "bench/suites/kernelbench", "date": time.strftime("%Y-%m-%d", now), "hour": time.strftime("%H:%M", now), "command": command(sys.argv[1:]),
            "machine": {"cpu": cpu(), "cores": len(os.sched_getaffinity(0)), "threads": threads}, "versions": of_packages(), "amdahl": of_program(path),
            "kernelbench": kernelbench}
