"""Writes the folders of BackendBench's format: a file an operator, and beside them amdahl_aten with its library, built once."""
import ast
import glob
import hashlib
import os
import shutil
import subprocess

from bb import operators

LIBRARY = os.path.join(operators.HERE, "library")
FLAGS = ["-std=c++20", "-O2", "-march=native", "-fPIC", "-shared"]

TEXT = '''"""aten.{operator}: amdahl_aten/{module}.py gives it to the library of kernels beside it. No function of PyTorch computes.
Signatures that Amdahl tuned are computed by its plans."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
from amdahl_aten import {module}, tuned  # noqa: E402

{folder}_kernel_impl = tuned.behind("{folder}", {module}.{folder})
'''


TABLE = "tuned_table.py"


def write_table(out, plans):
    """plans: by folder and signature, where a plan lies, type and size of its result."""
    path = os.path.join(out, "amdahl_aten", TABLE)
    with open(path + ".part", "w") as file:
        file.write('"""Which signatures Amdahl tuned: (folder, types and sizes) to (its plan, type and size of the result)."""\n')
        file.write("PLANS = {\n" + "".join(f"    {key!r}: {value!r},\n" for key, value in sorted(plans.items())) + "}\n")
    os.replace(path + ".part", path)


def read_table(out):
    with open(os.path.join(out, "amdahl_aten", TABLE)) as file:
        return ast.literal_eval(ast.parse(file.read()).body[-1].value)


def compiler():
    return os.environ.get("CXX") or "c++"


def sources():
    return sorted(glob.glob(os.path.join(LIBRARY, "*.cc")))


def texts():
    """Everything that the numbers depend on."""
    return [*sorted(glob.glob(os.path.join(LIBRARY, "*.h"))), *sources(), *(os.path.join(operators.SOURCES, m) for m in operators.modules())]


def fingerprint(paths=None):
    """Of the library and its operators, or of other files."""
    digest = hashlib.sha256(" ".join([compiler(), *FLAGS]).encode() if paths is None else b"")
    for path in texts() if paths is None else paths:
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]


def build_library(out):
    """Unless this very text lies there."""
    mark = os.path.join(out, "libaten.built")
    wanted = fingerprint()
    if os.path.exists(mark):
        with open(mark) as file:
            if file.read() == wanted and os.path.exists(os.path.join(out, "libaten.so")):
                return
    built = subprocess.run([compiler(), *FLAGS, "-o", os.path.join(out, "libaten.part"), *sources()], capture_output=True, text=True)
    if built.returncode:
        raise RuntimeError(f"{compiler()} does not build the library: {built.stderr.strip()[:2000]}")
    os.replace(os.path.join(out, "libaten.part"), os.path.join(out, "libaten.so"))
    with open(mark, "w") as file:
        file.write(wanted)


def write(out, wanted=None):
    """The folders of the operators in `wanted` (all: None); their names."""
    package = os.path.join(out, "amdahl_aten")
    os.makedirs(package, exist_ok=True)
    for module in operators.modules():
        shutil.copyfile(os.path.join(operators.SOURCES, module), os.path.join(package, module))
    if not os.path.exists(os.path.join(package, TABLE)):
        write_table(out, {})
    build_library(package)
    written = []
    for folder, module in sorted(operators.served().items()):
        operator = operators.operator_of(folder)
        if wanted is not None and operator not in wanted:
            continue
        os.makedirs(os.path.join(out, folder), exist_ok=True)
        with open(os.path.join(out, folder, f"{folder}_implementation_v1.py"), "w") as file:
            file.write(TEXT.format(operator=operator, module=module, folder=folder))
        written.append(folder)
    return written
