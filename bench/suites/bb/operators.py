"""Which operators have a kernel, read from the text of amdahl_aten, and which are left out."""
import ast
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "amdahl_aten")
FOLDER = re.compile(r"^_?[a-zA-Z]\w*?__[A-Za-z]\w*$")

# Two draws agree by chance or because they are empty, and nobody can say what uninitialised memory holds: a pass proves nothing.
LEFT_OUT = {name: "random" for name in (
    "cauchy_.default", "exponential_.default", "geometric_.default", "log_normal_.default", "normal_.default", "uniform_.default", "multinomial.default",
    "rand_like.default", "randn_like.default", "randint.default", "randint.low", "randint_like.default", "randint_like.low_dtype")} | {"empty_like.default": "uninitialised"}


def modules():
    return sorted(name for name in os.listdir(SOURCES) if name.endswith(".py"))


def names_in(text):
    """Top-level functions and assigned names that are folders of BackendBench."""
    names = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [name for name in names if FOLDER.match(name)]


def served():
    """By folder, its module."""
    found = {}
    for module in modules():
        with open(os.path.join(SOURCES, module)) as file:
            for name in names_in(file.read()):
                if name in found:
                    raise RuntimeError(f"{name} is both in {found[name]} and in {module[:-3]}")
                found[name] = module[:-3]
    return found


def operator_of(folder):
    """As BackendBench names it: __ from the right is a dot."""
    name, at = [], len(folder) - 1
    while at >= 0:
        if at >= 1 and folder[at - 1:at + 1] == "__":
            name.append(".")
            at -= 2
        else:
            name.append(folder[at])
            at -= 1
    return "".join(reversed(name))


def folder_of(operator):
    return operator.replace(".", "__")
