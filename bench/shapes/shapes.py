"""The regret of tuning several shapes in one session. See bench/shapes/run."""
import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../peers"))
from arm_process import Arm, write_inputs  # noqa: E402


def tune(options, name, seq, minutes):
    session = os.path.join(options.folder, f"{options.model}-{name}.amdahl")
    print(f"tuning {options.model} at {seq} for {minutes} minutes", file=sys.stderr, flush=True)
    budget = ["--minutes", str(minutes), "--no-wisdom", "--quiet"]
    argv = ["resume", session, *budget] if os.path.exists(session) else ["tune", f"builtin:{options.model}", "--seq", seq, "--session", session, "--threads", str(options.threads), *budget]
    subprocess.run([options.program, *argv], check=True, stdout=sys.stderr)
    return session


def model_file(options, folder, size):
    path = os.path.join(folder, f"{size}.onnx")
    subprocess.run([options.program, "models", options.model, "--seq", str(size), "-o", path], check=True, stdout=subprocess.DEVNULL)
    inputs = os.path.join(folder, f"inputs-{size}")
    os.makedirs(inputs)
    write_inputs(path, inputs)
    return path, inputs


def measure(options, folder, size, runs_at, shared, own):
    threads = str(options.threads)
    env = {"OMP_NUM_THREADS": threads, "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
    path, inputs = model_file(options, folder, size)
    larger = (path, inputs) if runs_at == size else model_file(options, folder, f"{runs_at}")
    arms = [Arm("starter", [options.arm, path, inputs, threads], env), Arm("own", [options.arm, path, inputs, threads, own], env),
            Arm("shared", [options.arm, *larger, threads, shared], env)]
    for _ in range(options.rounds):
        for arm in random.sample(arms, len(arms)):
            arm.turn(options.runs)
    ms = {arm.label: statistics.median(arm.rounds) for arm in arms}
    regret = sorted(s / o for s, o in zip(arms[2].rounds, arms[1].rounds))
    for arm in arms:
        arm.quit()
    where = str(size) if runs_at == size else f"{size}, padded to {runs_at}"
    print(f"| {where} | {ms['starter']:.2f} | {ms['own']:.2f} | {ms['shared']:.2f} | "
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
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--program", required=True)
    parser.add_argument("--arm", required=True)
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
