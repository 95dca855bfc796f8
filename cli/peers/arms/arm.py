"""What the arms that are written in Python have in common: the protocol of cli/peers/arm_process.h around a function that computes."""
import os
import sys
import time

try:
    import numpy as np
except ModuleNotFoundError:
    sys.exit(f"needs NumPy: {sys.executable} -m pip install numpy")

# Libraries print as they like: what they print goes to stderr, so that stdout has answers alone.
ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)


def say(*words):
    print(*words, file=ANSWERS, flush=True)


def write(outputs, folder):
    for i, a in enumerate(outputs):
        np.save(os.path.join(folder, f"{i}.npy"), np.asarray(a))
    say("saved")


def serve(run, load_ms, to_arrays=lambda outputs: outputs, reference=None):
    """`run` computes; what it gave is freed outside the clock. `to_arrays` makes NumPy's of it, outside too."""
    out = None
    say(f"ready {load_ms:.0f}")
    for line in sys.stdin:
        word, _, argument = line.rstrip("\n").partition(" ")
        if word == "run":
            times = []
            for _ in range(int(argument)):
                before = out
                start = time.perf_counter()
                out = run()
                times.append((time.perf_counter() - start) * 1e3)
                del before
            say("times", *(f"{t:.5f}" for t in times))
        elif word == "save":
            write(to_arrays(out), argument)
        elif word == "reference":
            write(reference, argument)
        elif word == "quit":
            return


def serve_clocked(run, load_ms):
    """For an arm that has nothing to save: `run` computes and says itself how many milliseconds it took."""
    say(f"ready {load_ms:.0f}")
    for line in sys.stdin:
        word, _, argument = line.rstrip("\n").partition(" ")
        if word == "run":
            say("times", *(f"{run():.5f}" for _ in range(int(argument))))
        elif word == "quit":
            return
        else:
            say("none")


def load_inputs(folder):
    """Arrays by name, in the model's order."""
    with open(os.path.join(folder, "names.txt")) as file:
        names = file.read().split("\n")[:-1]
    return {n: np.load(os.path.join(folder, f"{i}.npy")) for i, n in enumerate(names)}
