"""One runtime under test, as a process that computes when told to.

Protocol on stdin/stdout, one line each: the arm prints "ready MS_TO_LOAD"; for "run N" it runs the model N times and prints
"times MS MS ..."; for "save DIR" it writes its outputs of the last run as DIR/<index>.npy and prints "saved"; "reference DIR" does so with the
outputs that it wants to be compared with, where it has any; "quit" ends it.
The process is stopped (SIGSTOP) by arm_process.py while other arms run, so that a spinning thread pool disturbs nobody.
"""
import os
import sys
import time

import numpy as np


def write(outputs, folder):
    for i, a in enumerate(outputs):
        np.save(os.path.join(folder, f"{i}.npy"), np.asarray(a))
    print("saved", flush=True)


def serve(run, load_ms, to_arrays=lambda outputs: outputs, reference=None):
    """`run` computes; what it gave is freed outside the clock. `to_arrays` makes NumPy's of it, outside too."""
    out = None
    print(f"ready {load_ms:.0f}", flush=True)
    for line in sys.stdin:
        word = line.split()
        if word[0] == "run":
            times = []
            for _ in range(int(word[1])):
                before = out
                start = time.perf_counter()
                out = run()
                times.append((time.perf_counter() - start) * 1e3)
                del before
            print("times", *(f"{t:.4f}" for t in times), flush=True)
        elif word[0] == "save":
            write(to_arrays(out), word[1])
        elif word[0] == "reference":
            write(reference, word[1])
        elif word[0] == "quit":
            return


def serve_clocked(run, load_ms):
    """For an arm that has nothing to save: `run` computes and says itself how many milliseconds it took."""
    print(f"ready {load_ms:.0f}", flush=True)
    for line in sys.stdin:
        word = line.split()
        if word[0] == "run":
            print("times", *(f"{run():.5f}" for _ in range(int(word[1]))), flush=True)
        elif word[0] == "quit":
            return


def load_inputs(folder):
    """Arrays by name, as arm_process.py wrote them, in the model's order."""
    names = open(os.path.join(folder, "names.txt")).read().split("\n")[:-1]
    return {n: np.load(os.path.join(folder, f"{i}.npy")) for i, n in enumerate(names)}
