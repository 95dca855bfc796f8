"""KernelBench's problems as its repository has them at one commit."""
import os
import re
import subprocess

# Sizes were scaled up by this commit, so that every problem takes a large card more than a millisecond; a processor gets those before it.
SCALED_UP = "b08d959"
REVISIONS = {"reduced": SCALED_UP + "~1", "published": "HEAD"}


def git(checkout, *words, **options):
    return subprocess.run(["git", "-C", checkout, *words], check=True, capture_output=True, **options).stdout


def commit_of(checkout, sizes):
    """Raises RuntimeError where the clone has no such commit."""
    try:
        return git(checkout, "rev-parse", REVISIONS[sizes] + "^{commit}", text=True).strip()
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"{checkout} has no commit {REVISIONS[sizes]}: give a clone of KernelBench with its history, or --sizes published") from error


def unpack(checkout, commit, folder):
    """The problems of a commit under FOLDER/COMMIT, once. Works of a clone without files too."""
    at = os.path.join(folder, commit[:12])
    if not os.path.isdir(os.path.join(at, "KernelBench")):
        os.makedirs(at, exist_ok=True)
        subprocess.run(["tar", "-x", "-C", at], input=git(checkout, "archive", commit, "KernelBench"), check=True)
    return os.path.join(at, "KernelBench")


def number_of(name):
    return int(re.match(r"\d+", name).group())


def problems(folder, levels, only):
    """(name as in "level1/1_Square_matrix_multiplication_", path), in KernelBench's order."""
    found = []
    for level in levels:
        at = os.path.join(folder, f"level{level}")
        for file in sorted((f for f in os.listdir(at) if re.match(r"\d+_.*\.py$", f)), key=number_of):
            name = f"level{level}/{file.removesuffix('.py')}"
            if only in name:
                found.append((name, os.path.join(at, file)))
    return found
