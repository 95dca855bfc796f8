"""What the figures were made with."""
import importlib.metadata
import os
import platform
import shlex
import subprocess
import sys
import time

PACKAGES = ("torch", "numpy", "scipy", "expecttest")
FOLDERS = ("--checkout", "--out", "--json")


def cpu():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown CPU")


def of_packages():
    installed = {d.name: d.version for d in importlib.metadata.distributions()}
    return {"python": platform.python_version(), **{name: installed[name] for name in PACKAGES if name in installed}}


def of_compiler(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


def of_checkout(folder):
    """Its commit, and whether nothing in it was changed."""
    def git(*words):
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None
    top = git("rev-parse", "--show-toplevel")
    if top is None or os.path.realpath(top) != os.path.realpath(folder):
        return {"commit": "unknown", "unchanged": False}
    return {"commit": git("rev-parse", "HEAD"), "unchanged": git("status", "--porcelain") == ""}


def command(words):
    """As it was typed, without this machine's folders."""
    shown, hide = ["bench/suites/backendbench"], False
    for word in words:
        shown.append("DIR" if hide else word)
        hide = word in FOLDERS
    return shlex.join(shown)


def provenance(options, build, compiler):
    now = time.localtime()
    return {"bench": "bench/suites/backendbench", "date": time.strftime("%Y-%m-%d", now), "hour": time.strftime("%H:%M", now), "command": command(sys.argv[1:]),
            "machine": {"cpu": cpu(), "cores": len(os.sched_getaffinity(0))}, "versions": of_packages(), "compiler": of_compiler(compiler), "build": build,
            "backendbench": of_checkout(options.checkout), "device": options.device, "dtype": options.dtype, "seed": options.seed}
