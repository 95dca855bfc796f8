"""What the figures were made with."""
import made_with
from processes import program

PACKAGES = ("torch", "onnxscript", "onnx", "onnxruntime", "numpy", "einops")
FOLDERS = ("--checkout", "--folder", "--json")


def of_program(path):
    return program(path, "--version", "--json", seconds=60)


def build(facts):
    """Which build of the program it was."""
    return facts["commit"] or facts["version"]


def provenance(path, kernelbench, threads):
    facts = made_with.provenance("bench/suites/kernelbench", PACKAGES, FOLDERS)
    facts["machine"]["threads"] = threads
    return {**facts, "amdahl": of_program(path), "kernelbench": kernelbench}
