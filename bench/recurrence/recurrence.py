"""Recurrent networks and decode steps, tuned here and beside other runtimes: a line a model, ratios from rounds of one process after the other."""
import argparse
import json
import os
import pathlib
import subprocess

import models
from tuned_beside import line, tuned_beside

FILES = pathlib.Path(__file__).resolve().parent / ".files"
PROGRAM = os.environ["AMDAHL_PROGRAM"]
SHIPPED = ["gpt2-decode", "llama-160m-decode"]  # one token, 512 keys


def file_of(name):
    path = FILES / f"{name}.onnx"
    if not path.exists():
        if name in models.MAKERS:
            models.MAKERS[name](path)
        else:
            subprocess.run([PROGRAM, "models", name, "-o", str(path), "--quiet"], check=True)
    return path


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    known = [*models.MAKERS, *SHIPPED]
    arguments.add_argument("--minutes", type=float, default=2, help="to tune each model (default 2)")
    arguments.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(known)} (default: all)")
    given = arguments.parse_args()
    for name in given.models:
        if name not in known:
            arguments.error(f"no model '{name}': one of {', '.join(known)}")
    FILES.mkdir(exist_ok=True)
    for name in given.models or known:
        document = tuned_beside(PROGRAM, file_of(name), FILES / f"{name}.amdahl", given.minutes, ["onnxruntime", "openvino f32"])
        (FILES / f"{name}.json").write_text(json.dumps(document, indent=1))
        print(line(name, document), flush=True)


if __name__ == "__main__":
    main()
