"""How cost grows: tuning with the number of equal layers, and running with the number of steps. See bench/growth/run."""
import argparse
import glob
import json
import math
import os
import shutil
import subprocess
import sys

import make_models

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../acceptance"))
from measured_command import command  # noqa: E402

STEPS = 1000


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, r)) + " |" for r in [head, ["---"] * len(head), *rows]) + "\n"


def prepared_cache(options, folder):
    """A kernel cache with nothing in it but what is measured once a machine: its ceilings and its noise."""
    measured, cache = os.path.join(options.folder, "cache"), os.path.join(folder, "cache")
    if not os.path.exists(measured):
        command([options.program, "doctor", "--cache", measured, "--quiet"])
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(measured, cache, ignore=shutil.ignore_patterns("kernels"))
    return ["--cache", cache, "--quiet"]


def tune(options, layers):
    """One row: a model of so many layers from its file to its end."""
    folder = os.path.join(options.folder, f"layers-{layers}")
    path, session = f"{folder}/model.onnx", f"{folder}.amdahl"
    if not os.path.exists(path):
        make_models.decoder(path, layers)
    for file in glob.glob(session + "*"):
        os.remove(file)
    rest = prepared_cache(options, folder)
    profile, profile_seconds, _ = command([options.program, "profile", path, "--json", *rest])
    said, seconds, peak = command([options.program, "tune", path, "--session", session, "--minutes", str(options.minutes), *rest])
    report = json.loads(command([options.program, "report", session, "--json", *rest])[0])
    return {"layers": layers, "starter_ms": 1e3 * json.loads(profile)["profile"]["seconds"], "profile_seconds": profile_seconds,
            "report": report, "end": said.splitlines()[0].split(": ", 1)[1], "seconds": seconds, "peak_mib": peak,
            "session_mb": os.path.getsize(session) / 1e6}


def tuning_cells(r):
    experiments = r["report"]["experiments"]
    kept = [e for e in experiments if e["outcome"] == "kept"]
    windows = {e["signature"] for e in experiments}
    gain = (r["report"].get("headline") or {"gain": {"log": 0, "lo": 0, "hi": 0}})["gain"]
    speed = "{:.2f}x [{:.2f}, {:.2f}]".format(*(math.exp(gain[k]) for k in ("log", "lo", "hi")))
    end = "time is up" if r["end"].startswith("time") else "converged"
    places = [e["occurrences"] for e in kept]
    return [r["layers"], f"{r['starter_ms']:.2f}", f"{r['profile_seconds']:.1f}", len(experiments), len(windows), len(kept), sum(places),
            speed, f"{r['seconds']:.0f}, {end}", f"{r['peak_mib']:.0f}", f"{r['session_mb']:.1f}"]


def tuning_table(options):
    head = ["layers", "starter, ms", "profile, s", "experiments", "different windows", "kept", "places of those", "speed-up",
            "seconds", "peak, MiB", "session, MB"]
    rows = []
    for layers in options.layers:
        print(f"tuning {layers} layers", file=sys.stderr, flush=True)
        rows.append(tuning_cells(tune(options, layers)))
    return table(head, rows)


def overhead_table(options):
    path = os.path.join(options.folder, f"steps-{STEPS}", "model.onnx")
    if not os.path.exists(path):
        make_models.chain(path, STEPS)
    rows = []
    for threads in (1, 2):
        print(f"{STEPS} tiny steps, {threads} threads", file=sys.stderr, flush=True)
        result = os.path.join(options.folder, f"steps-{threads}.json")
        subprocess.run([os.path.join(HERE, "../peers/run"), path, "--threads", str(threads), "--runs", "40", "--rounds", str(options.rounds),
                        "--only", "starter,onnxruntime plain", "--json", result], check=True, stdout=subprocess.DEVNULL)
        arms = next(iter(json.load(open(result))["models"].values()))
        rows.append([threads, *(f"{1e3 * arms[a]['ms'] / STEPS:.3f}" for a in ("starter", "onnxruntime", "onnxruntime plain")),
                     f"{arms['starter']['over_onnxruntime']:.2f} [{arms['starter']['low']:.2f}, {arms['starter']['high']:.2f}]",
                     f"{arms['starter']['error']:.1e}"])
    return table(["threads", "starter plan, us a step", "ONNX Runtime, us a step", "without its optimiser, us a step",
                  "starter over ONNX Runtime", "difference"], rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--folder", default="growth")
    parser.add_argument("--layers", type=lambda text: [int(n) for n in text.split(",")], default=[12, 24, 48])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("parts", nargs="*", default=["tuning", "overhead"], choices=["tuning", "overhead"])
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    os.makedirs(options.folder, exist_ok=True)
    for part in options.parts:
        text = {"tuning": tuning_table, "overhead": overhead_table}[part](options)
        open(os.path.join(options.folder, part + ".md"), "w").write(text)
        print(text, flush=True)


main()
