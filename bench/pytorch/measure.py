"""The twelve modules through amdahl.optimize, beside eager PyTorch, torch.compile and ONNX Runtime, all called from Python; bench/pytorch/run starts it.

Every module is tuned first; then the arms take turns in random order, each a process that is stopped outside of its turns (bench/peers/arm_process.py)."""
import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "peers")]
import ratios  # noqa: E402  (bench/peers)
from arm_process import Arm  # noqa: E402

FORMS = ["eager", "compiled", "max-autotune", "onnxruntime", "amdahl"]
RIVALS = ["eager", "compiled", "max-autotune"]  # the bar: the fastest of these


def tuned(name, options):
    words = [sys.executable, os.path.join(HERE, "tune.py"), name, str(options.threads), str(options.minutes)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else {"failed": f"tune.py ended with {done.returncode}"}


def rows_of(name, facts, options):
    arms, rows = [], {}
    for form in options.forms.split(","):
        words = [sys.executable, os.path.join(HERE, "arm.py"), name, form, str(options.threads), str(options.minutes), facts.get("onnx", "")]
        try:
            arms.append(Arm(form, words))
        except RuntimeError as error:
            rows[form] = {"failed": str(error)}
    for round_ in range(options.rounds):
        for arm in random.sample(arms, len(arms)):
            arm.turn(3)
        print(f"\r  {name}: round {round_ + 1} of {options.rounds} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    want = next((a.outputs() for a in arms if a.label == "eager"), None)
    ours = next((a for a in arms if a.label == "amdahl"), None)
    for arm in arms:
        rows[arm.label] = {"ms": statistics.median(arm.rounds), "rounds": arm.rounds, "error": ratios.difference(arm.outputs(), want) if want else None}
        if ours:
            rows[arm.label]["over_ours"] = ratios.ratio(arm.rounds, ours.rounds)
    for arm in arms:
        arm.quit()
    return rows


def print_row(name, facts, rows):
    cells = [f"{rows[f]['ms']:.2f}" if "ms" in rows.get(f, {}) else "-" for f in FORMS]
    best = min((rows[f]["ms"] for f in RIVALS if "ms" in rows.get(f, {})), default=math.nan)
    ours = rows.get("amdahl", {})
    gain = best / ours["ms"] if "ms" in ours else math.nan
    first = f"{facts['first_win']:.0f}" if facts.get("first_win") else "-"
    error = f"{ours['error']:.0e}" if "error" in ours else "-"
    print(f"| {name} | {' | '.join(cells)} | {gain:.2f} | {error} | {first} | {facts.get('experiments', '-')} |", flush=True)
    return gain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--json")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    import twelve
    print("| model | eager, ms | compiled | max-autotune | ONNX Runtime | amdahl | over the best of PyTorch | difference | first win, s | tried |")
    print("|" + "---|" * 10, flush=True)
    gains, results = [], {}
    for name in options.models or twelve.MODELS:
        facts = tuned(name, options)
        rows = rows_of(name, facts, options)
        results[name] = {"facts": facts, "rows": rows}
        gains.append(print_row(name, facts, rows))
        if options.json:
            with open(options.json, "w") as file:
                json.dump(results, file, indent=1)
    known = [g for g in gains if not math.isnan(g)]
    if known:
        print(f"\ngeometric mean of {len(known)}: {math.exp(statistics.mean(map(math.log, known))):.2f}; the least {min(known):.2f}")
    sys.exit(len(known) != len(gains))


if __name__ == "__main__":
    main()
