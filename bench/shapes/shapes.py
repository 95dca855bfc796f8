"""The regret of tuning several shapes in one session. See bench/shapes/run."""
import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../peers"))
from comparison import compare, copy_of, plan_arm, rounds_ms  # noqa: E402


def tune(options, name, seq, minutes):
    session = os.path.join(options.folder, f"{options.model}-{name}.amdahl")
    print(f"tuning {options.model} at {seq} for {minutes} minutes", file=sys.stderr, flush=True)
    budget = ["--minutes", str(minutes), "--no-wisdom", "--quiet"]
    argv = ["resume", session, *budget] if os.path.exists(session) else ["tune", f"builtin:{options.model}", "--seq", seq, "--session", session, "--threads", str(options.threads), *budget]
    subprocess.run([options.program, *argv], check=True, stdout=sys.stderr)
    return session


def larger_inputs(options, folder, size):
    """Token numbers of another length, as a plan for that length takes them."""
    inputs = os.path.join(folder, f"inputs-{size}")
    os.makedirs(inputs)
    np.save(os.path.join(inputs, "0.npy"), np.random.default_rng(5).integers(0, 1000, (1, size)))
    with open(os.path.join(inputs, "names.txt"), "w") as names:
        names.write("input_ids\n")
    return inputs


def measure(options, folder, size, runs_at, shared, own):
    inputs = {} if runs_at == size else {"inputs": shlex.quote(larger_inputs(options, folder, runs_at))}
    arms = {"shared": plan_arm(options.program, shared, options.threads, **inputs)}
    rows = compare(options.program, copy_of(own, folder), "--threads", options.threads, "--rounds", options.rounds, "--only", "starter", arms=arms)["rows"]
    if runs_at == size and rows["shared"]["reason"]:
        raise RuntimeError(f"{shared}: {rows['shared']['reason']}")
    ms = {label: rounds_ms(row) for label, row in rows.items()}
    regret = sorted(s / o for s, o in zip(ms["shared"], ms["tuned"]))
    where = str(size) if runs_at == size else f"{size}, padded to {runs_at}"
    print(f"| {where} | {statistics.median(ms['starter']):.2f} | {statistics.median(ms['tuned']):.2f} | {statistics.median(ms['shared']):.2f} | "
          f"{statistics.median(regret):.2f} ({regret[0]:.2f} .. {regret[-1]:.2f}) |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="gpt2")
    parser.add_argument("--shapes", default="16,64,128,512")
    parser.add_argument("--between", default="96")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--own-minutes", type=float, default=4)
    parser.add_argument("--folder", default="shapes")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    shapes = [int(s) for s in options.shapes.split(",")]
    sizes = sorted(shapes + [int(s) for s in options.between.split(",") if s])
    shared = tune(options, "all", "{" + options.shapes + "}", options.minutes)
    # A run of 512 tokens takes five times one of 128: so do its gate and its headline.
    own = {size: tune(options, size, str(size), options.own_minutes * max(1, size / 256)) for size in sizes}
    print("| shape | starter, ms | own session, ms | shared session, ms | regret (over rounds) |\n|---|---|---|---|---|")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            measure(options, folder, size, min(s for s in shapes if s >= size), shared, own[size])


main()
