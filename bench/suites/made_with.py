"""What the figures of a bench of a suite were made with."""
import importlib.metadata
import os
import platform
import shlex
import sys
import time


def cpu():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown CPU")


def of_packages(names):
    installed = {d.name: d.version for d in importlib.metadata.distributions()}
    return {"python": platform.python_version(), **{name: installed[name] for name in names if name in installed}}


def command(bench, words, folders):
    """As it was typed, without this machine's folders: the values of the options `folders`."""
    shown, hide = [bench], False
    for word in words:
        shown.append("DIR" if hide else word)
        hide = word in folders
    return shlex.join(shown)


def provenance(bench, packages, folders):
    now = time.localtime()
    return {"bench": bench, "date": time.strftime("%Y-%m-%d", now), "hour": time.strftime("%H:%M", now), "command": command(bench, sys.argv[1:], folders),
            "machine": {"cpu": cpu(), "cores": len(os.sched_getaffinity(0))}, "versions": of_packages(packages)}
