"""One runtime under test, as a process that computes when told to.

Protocol on stdin/stdout, one line each: the arm prints "ready MS_TO_LOAD"; for "run N" it runs the model N times and prints
"times MS MS ..."; for "save DIR" it writes its outputs of the last run as DIR/<index>.npy and prints "saved"; "quit" ends it.
The process is stopped (SIGSTOP) by compare.py while other arms run, so that a spinning thread pool disturbs nobody.
"""
import os
import sys
import time

import numpy as np


def serve(run, load_ms):
    out = None
    print(f"ready {load_ms:.0f}", flush=True)
    for line in sys.stdin:
        word = line.split()
        if word[0] == "run":
            times = []
            for _ in range(int(word[1])):
                start = time.perf_counter()
                out = run()
                times.append((time.perf_counter() - start) * 1e3)
            print("times", *(f"{t:.4f}" for t in times), flush=True)
        elif word[0] == "save":
            for i, a in enumerate(out):
                np.save(os.path.join(word[1], f"{i}.npy"), np.asarray(a))
            print("saved", flush=True)
        elif word[0] == "quit":
            return


def load_inputs(folder):
    """NAME=DTYPE files written by compare.py, in the model's order."""
    names = open(os.path.join(folder, "names.txt")).read().split("\n")[:-1]
    return {n: np.load(os.path.join(folder, f"{i}.npy")) for i, n in enumerate(names)}
