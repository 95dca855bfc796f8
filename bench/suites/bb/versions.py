"""What the figures were made with."""
import os
import subprocess

import made_with

PACKAGES = ("torch", "numpy", "scipy", "expecttest")
FOLDERS = ("--checkout", "--out", "--json")


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


def provenance(options, build, compiler):
    return {**made_with.provenance("bench/suites/backendbench", PACKAGES, FOLDERS), "compiler": of_compiler(compiler), "build": build,
            "backendbench": of_checkout(options.checkout), "device": options.device, "dtype": options.dtype, "seed": options.seed}
