"""The twelve modules through amdahl.optimize, beside eager PyTorch, torch.compile and ONNX Runtime, all called from Python; bench/pytorch/run starts it.

Every module is tuned first; then `amdahl compare` lets the arms take turns (docs/compare.md), and beside them the plan alone, without Python."""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "peers")]
import ratios  # noqa: E402  (bench/peers)
from comparison import compare, copy_of, python_arm, rounds_ms  # noqa: E402

FORMS = ["eager", "compiled", "max-autotune", "onnxruntime", "amdahl"]
RIVALS = ["eager", "compiled", "max-autotune"]  # the bar: the fastest of these


def tuned(name, options):
    """What tune.py says of it; a model that was tuned before begins where it ended."""
    words = [sys.executable, os.path.join(HERE, "tune.py"), name, str(options.threads), str(options.minutes)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else None


def rows_of(name, facts, options, folder):
    arms = {f"called {form}": python_arm(os.path.join(HERE, "arm.py"), name, form, options.threads, options.minutes) for form in options.forms.split(",")}
    words = ["--python", sys.executable, "--only", "onnxruntime", "--rounds", options.rounds]
    rows = {}
    for label, row in compare(os.environ["AMDAHL_PROGRAM"], copy_of(facts["session"], folder), *words, arms=arms)["rows"].items():
        label = label.removeprefix("called ") if label.startswith("called ") else f"bound {label}"  # beside ours, and ONNX Runtime with inputs bound
        rows[label] = {"failed": row["reason"]} if row.get("reason") else {"ms": 1e3 * row["seconds"], "rounds": rounds_ms(row), "error": row.get("difference")}
    return rows


def summary(rows):
    """Ours over the best of PyTorch, and over ONNX Runtime, both called from Python: (ratio, low, high), or None."""
    ours, known = rows.get("amdahl", {}), {label: row for label, row in rows.items() if "ms" in row}
    if "ms" not in ours:
        return {}
    best = min((label for label in RIVALS if label in known), key=lambda label: known[label]["ms"], default=None)
    beside = {"best": best, "over_pytorch": ratios.ratio(known[best]["rounds"], ours["rounds"])} if best else {}
    if "onnxruntime" in known:
        beside["over_onnxruntime"] = ratios.ratio(known["onnxruntime"]["rounds"], ours["rounds"])
    return beside


def print_row(name, facts, rows, beside):
    cells = [f"{rows[f]['ms']:.2f}" if "ms" in rows.get(f, {}) else "-" for f in FORMS]
    over = " | ".join(f"{beside[k][0]:.2f} [{beside[k][1]:.2f}, {beside[k][2]:.2f}]" if k in beside else "-" for k in ("over_pytorch", "over_onnxruntime"))
    error = rows.get("eager", {}).get("error")  # between the two, seen from ours
    first = f"{facts['first_win']:.0f}" if facts.get("first_win") else "-"
    print(f"| {name} | {' | '.join(cells)} | {over} | {f'{error:.0e}' if error is not None else '-'} | {first} | {facts['experiments']} |", flush=True)
    for label, row in rows.items():
        if "failed" in row:
            print(f"  {name}: {label}: {row['failed']}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--json")
    parser.add_argument("--tune-only", action="store_true")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    import twelve
    if not options.tune_only:
        print("| model | eager, ms | compiled | max-autotune | ONNX Runtime | amdahl | over the best of PyTorch | over ONNX Runtime | difference | first win, s | tried |")
        print("|" + "---|" * 11, flush=True)
    gains, results = [], {}
    for name in options.models or twelve.MODELS:
        facts = tuned(name, options)
        if facts is None or options.tune_only:
            print(f"  {name}: {facts or 'was not tuned'}", file=sys.stderr, flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows = rows_of(name, facts, options, folder)
        beside = summary(rows)
        results[name] = {"facts": facts, "rows": rows, **beside}
        gains += [beside["over_pytorch"][0]] if "over_pytorch" in beside else []
        print_row(name, facts, rows, beside)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(results, file, indent=1)
    if gains:
        print(f"\nover the best of PyTorch, geometric mean of {len(gains)}: {math.exp(statistics.mean(map(math.log, gains))):.2f}; the least {min(gains):.2f}")
    sys.exit(not options.tune_only and len(gains) != len(options.models or twelve.MODELS))


if __name__ == "__main__":
    main()
