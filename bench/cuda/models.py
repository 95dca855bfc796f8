"""Whole models on a card beside PyTorch, in one run: models.py --program DIR/amdahl --json FILE [MODEL ...]

Every arm is a process that replays one CUDA graph when it is told to, timed by two events; arms take turns in random order, and of each turn the median
counts. Ours: the starter plan, and the kept plan of a session NAME.amdahl in --sessions. PyTorch: eager, compiled and max-autotune, each captured into a
graph (torch_arm.py). Reported: medians over rounds, and the ratio to the fastest peer round by round, its median and the 95% interval of that.

It works in slices: with --minutes it begins no model after so long, and models that the JSON file holds already are not measured again. A model that
cannot be measured is there with the reason; exit status 1 says that there is one."""
import argparse
import importlib.metadata
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "peers"))
import ratios  # noqa: E402
from comparison import compare, copy_of, python_arm, rounds_ms  # noqa: E402

MODELS = ["gpt2", "bert-base", "llama-160m", "resnet50", "resnet50-b8", "mobilenet-v2", "vit-b16", "gpt2-decode", "llama-160m-decode"]
FORMS = ["eager", "compiled", "max-autotune"]


def machine():
    card = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    installed = {d.name: d.version for d in importlib.metadata.distributions()}
    return {"card": card.split("\n")[0], "versions": {name: installed[name] for name in ("torch", "triton", "torchvision", "transformers") if name in installed}}


def shipped(name, dtype):
    """What the program calls a model, and its options: NAME-b8 is NAME at a batch of 8."""
    stem, eight, _ = name.partition("-b8")
    return stem if dtype == "fp32" else f"{stem}@{dtype}", ["--batch", "8"] if eight else []


def measure(options, name):
    stem, batch = shipped(name, options.dtype)
    arms = {f"pytorch {form}": python_arm(f"{HERE}/torch_arm.py", name, form, options.dtype) for form in options.forms}
    session = os.path.join(options.sessions or "", f"{name}.amdahl")
    print(f"{name}: measuring", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tuned = options.sessions and os.path.exists(session)
        subject = [copy_of(session, folder), "--only", "starter"] if tuned else [f"builtin:{stem}", *batch, "--only", "starter"]
        document = compare(options.program, *subject, "--device", options.device, "--rounds", options.rounds, arms=arms)
    measured = {label: row for label, row in document["rows"].items() if not row["reason"]}
    rows = {label: {"us": 1e6 * row["seconds"], "rounds_us": [1e3 * ms for ms in rounds_ms(row)]} for label, row in measured.items()}
    peers = [label for label in measured if label in arms]
    if peers:
        best = min(peers, key=lambda label: measured[label]["seconds"])
        for label in set(measured) - set(peers):
            middle, low, high = ratios.ratio(rows[best]["rounds_us"], rows[label]["rounds_us"])
            rows[label]["over_best_peer"] = {"peer": best, "ratio": middle, "low": low, "high": high}
    for label in set(document["rows"]) - set(measured):
        rows[label] = {"failed": document["rows"][label]["reason"]}
    return rows


def print_rows(name, rows):
    print(f"\n{name}")
    for label, row in rows.items():
        if "failed" in row:
            print(f"  {label:<22} failed: {row['failed']}")
            continue
        best = row.get("over_best_peer")
        print(f"  {label:<22} {row['us']:9.1f} us" + (f"   {best['ratio']:.3f} [{best['low']:.3f}, {best['high']:.3f}] over {best['peer']}" if best else ""))
    sys.stdout.flush()


def options_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--program", default="amdahl")
    parser.add_argument("--sessions", help="folder with NAME.amdahl")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="fp16", choices=["fp16", "bf16", "fp32"])
    parser.add_argument("--forms", type=lambda text: text.split(","), default=FORMS)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--json", required=True)
    return parser.parse_args()


def main():
    options = options_of_command_line()
    results = {"bench": "bench/cuda/models.py", "date": time.strftime("%Y-%m-%d"), "command": shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]]),
               "dtype": options.dtype, "machine": machine(), "models": {}}
    if os.path.exists(options.json):
        with open(options.json) as file:
            results["models"] = json.load(file)["models"]
    begun = time.monotonic()
    for name in options.models:
        if name in results["models"] or time.monotonic() - begun > 60 * options.minutes:
            continue
        try:
            rows = measure(options, name)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            rows = {"all": {"failed": str(error)}}
        results["models"][name] = rows
        print_rows(name, rows)
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    sys.exit(any("failed" in row for rows in results["models"].values() for row in rows.values()))


if __name__ == "__main__":
    main()
