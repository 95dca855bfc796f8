"""Recurrent networks and decode steps, tuned here and beside other runtimes: a line a model, ratios from rounds of one process after the other."""
import pathlib
import subprocess

import models
import tuned_beside

FILES = pathlib.Path(__file__).resolve().parent / ".files"
SHIPPED = ["gpt2-decode", "llama-160m-decode"]  # one token, 512 keys


def files_of(name):
    path = FILES / f"{name}.onnx"
    if not path.exists():
        if name in models.MAKERS:
            models.MAKERS[name](path)
        else:
            subprocess.run([tuned_beside.PROGRAM, "models", name, "-o", str(path), "--quiet"], check=True)
    return [path]


if __name__ == "__main__":
    tuned_beside.main(__doc__, [*models.MAKERS, *SHIPPED], 2, FILES, files_of)
