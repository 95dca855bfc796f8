"""Runtimes beside ours on many models; bench/peers/run starts it. `amdahl compare` measures (docs/compare.md says how); this has the list of models, the files of
results, the means, and what the placement of the cores did.

Reported: the median over rounds; the ratio to ONNX Runtime (with its optimiser or without, whichever is faster) round by round, its median and the 95% interval of
that; and the time that a tenth of all runs did not exceed: what the arm takes in the machine's quiet moments, the same for all arms given enough rounds. Exit status
1: an arm could not be measured, or ours computes something else."""
import argparse
import importlib.metadata
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import time

import placement
import ratios
from comparison import compare, plan_arm, rounds_ms

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ["gpt2", "bert-base", "llama-160m", "resnet50", "mobilenet-v2", "vit-b16"]
RUNTIMES = ["onnxruntime", "onnxruntime plain"]  # the optimiser on and off
OURS = {"starter": 1e-4, "tuned": 1e-4, "tuned bf16": 0.02}  # largest difference of outputs: ONNX Runtime's from the first that is there, the others from that one


def has_bf16():
    """Whether this CPU multiplies bfloat16; where it does not, PyTorch takes minutes a run to imitate it."""
    with open("/proc/cpuinfo") as info:
        return bool({"avx512_bf16", "amx_bf16", "bf16"} & set(info.read().split()))


def machine(threads):
    with open("/proc/cpuinfo") as info:
        cpu = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown CPU")
    installed = {d.name: d.version for d in importlib.metadata.distributions()}
    versions = {name: installed[name] for name in ("onnxruntime", "openvino", "torch") if name in installed}
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "threads": threads, "bf16": has_bf16(), "versions": versions}


def provenance(options):
    """What docs/results.md says of a measurement. Folders are the reader's own: no path of this machine goes into the file."""
    words = ["bench/peers/run", *(["--sessions", "DIR"] if options.sessions else []), "--threads", options.threads, "--rounds", options.rounds]
    words += ["--only", options.only] if options.only else []
    words += ["--no-torch"] if options.no_torch else []
    words += [os.path.basename(os.path.dirname(os.path.abspath(m))) if m.endswith(".onnx") else m for m in options.models if options.models != MODELS]
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True)
    now = time.localtime()
    return {"bench": "bench/peers/run", "date": time.strftime("%Y-%m-%d", now), "hour": time.strftime("%H:%M", now), "command": shlex.join(map(str, words)),
            "commit": commit.stdout.strip() or None, "rounds": options.rounds, "interval": "95% of the median of ratios round by round"}


def rows_of(document):
    """A row for each arm that was in the running or should have been, {"failed": reason} where it was not; ratios to the better of ONNX Runtime's."""
    arms = document["rows"]
    rounds = {label: rounds_ms(row) for label, row in arms.items() if not row["reason"]}
    runtimes = [label for label in RUNTIMES if label in rounds]
    if not runtimes:
        return {label: {"failed": row["reason"] or "ONNX Runtime was not measured"} for label, row in arms.items()}
    base = min(runtimes, key=lambda label: arms[label]["seconds"])
    rows = {}
    for label, row in arms.items():
        if row["reason"]:
            rows[label] = {"failed": row["reason"]}
            continue
        middle, low, high = ratios.ratio(rounds[base], rounds[label])
        # Ours is what the program holds the others against.
        error = arms[base]["difference"] if row["difference"] is None else row["difference"]
        rows[label] = {"ms": 1e3 * row["seconds"], "rounds": rounds[label], "over_onnxruntime": middle, "low": low, "high": high,
                       "quiet_ms": 1e3 * row["quiet_seconds"], "error": math.inf if error is None else error}
    return rows


def arms_of(options, shipped):
    wanted = ["starter", *RUNTIMES, "openvino f32", "openvino bf16"]
    if shipped and not options.no_torch:
        wanted += [f"pytorch {form} {p}" for form in ("eager", "compiled", "max-autotune") for p in ("f32", "bf16")]
    if not has_bf16():
        wanted = [label for label in wanted if not label.endswith("bf16")]
    if options.only:
        wanted = [label for label in wanted if label == "onnxruntime" or label in options.only.split(",")]
    return wanted


def inputs_beside(model):
    """FOLDER/inputs/NAME.npy beside FOLDER/model.onnx: what it must be measured on."""
    folder = os.path.join(os.path.dirname(os.path.abspath(model)), "inputs")
    files = sorted(os.listdir(folder)) if model.endswith(".onnx") and os.path.isdir(folder) else []
    return [word for file in files for word in ("--input", f"{file.removesuffix('.npy')}={os.path.join(folder, file)}")]


def measure(label, model, sessions, options):
    """Rows, and where the cores were."""
    shipped = not model.endswith(".onnx")
    name = f"builtin:{model}" if shipped else model
    subject = sessions.get("tuned", name)
    words = ["--python", sys.executable, "--threads", options.threads, "--rounds", options.rounds, "--only", ",".join(arms_of(options, shipped)), *inputs_beside(model)]
    arms = dict(peer.split("=", 1) for peer in options.peer)
    if "tuned bf16" in sessions and (not options.only or "tuned bf16" in options.only.split(",")):
        arms["tuned bf16"] = plan_arm(options.program, sessions["tuned bf16"], options.threads)
    print(f"  {label}: measuring", file=sys.stderr, flush=True)
    try:
        document = compare(options.program, subject, *words, arms=arms)
    except RuntimeError as error:
        print(f"  {label}: {error}", file=sys.stderr)
        return {"tuned" if "tuned" in sessions else "starter": {"failed": str(error)}}, []
    rows = rows_of(document)
    for ours, most in OURS.items():
        if ours in rows and "failed" not in rows[ours] and not rows[ours]["error"] <= most:
            rows[ours] = {"failed": f"its outputs are {rows[ours]['error']:.1e} from the others'"}
    for arm, row in rows.items():
        if "failed" in row:
            print(f"  {label}: {arm}: {row['failed']}", file=sys.stderr)
    for ours in set(OURS) & set(rows):
        if best := over_best_peer(rows, ours, peers_of(rows, ours)):
            rows[ours]["over_best_peer"] = best
    return rows, [[1e9 * s for s in turns if s > 0] for turns in document["core_distance_seconds"]]


def over_best_peer(rows, name, peers):
    """How much faster one arm is than the fastest of `peers`, round by round; None without a peer."""
    measured = {label: rows[label] for label in peers if "failed" not in rows[label]}
    if "failed" in rows[name] or not measured:
        return None
    best = min(measured, key=lambda label: measured[label]["ms"])
    middle, low, high = ratios.ratio(measured[best]["rounds"], rows[name]["rounds"])
    return {"peer": best, "ratio": middle, "low": low, "high": high}


def peers_of(rows, name):
    """Arms of others in the same arithmetic."""
    return [label for label in rows if label not in OURS and label.endswith("bf16") == name.endswith("bf16")]


def share_of_floor(program, session):
    """Of the time of a session's last profile, what its steps would take at their rooflines, at the speed of that moment."""
    report = json.loads(subprocess.run([program, "report", session, "--json"], check=True, capture_output=True, text=True).stdout)
    groups = report["left_to_win"]
    return sum(g["floor_seconds"] for g in groups) / sum(g["seconds"] for g in groups) if groups else None


def print_table(model, rows, floors):
    """One table a model: arms in the order of their speed."""
    measured = {label: row for label, row in rows.items() if "failed" not in row}
    print(f"\n{model}\n\n| | ms | over ONNX Runtime [95%] | fastest tenth, ms | over ONNX Runtime's | difference from its outputs |\n|---|---|---|---|---|---|")
    base_quiet = min((row["quiet_ms"] for label, row in measured.items() if label in RUNTIMES), default=math.nan)
    for label, row in sorted(measured.items(), key=lambda r: r[1]["ms"]):
        print(f"| {label} | {row['ms']:.2f} | {row['over_onnxruntime']:.2f} [{row['low']:.2f}, {row['high']:.2f}] | "
              f"{row['quiet_ms']:.2f} | {base_quiet / row['quiet_ms']:.2f} | {row['error']:.1e} |")
    for label, row in rows.items():
        if "failed" in row:
            print(f"| {label} | failed: {row['failed']} | | | | |")
    for name, share in floors.items():
        if best := measured.get(name, {}).get("over_best_peer"):
            print(f"\n{name} over the best peer, {best['peer']}: {best['ratio']:.2f} [{best['low']:.2f}, {best['high']:.2f}]"
                  + (f"; {share:.0%} of its steps' rooflines" if share else ""))
    sys.stdout.flush()


def over_at(rows, name, at):
    """The ratio to ONNX Runtime in some rounds."""
    base = min((rows[r] for r in RUNTIMES if "rounds" in rows.get(r, {})), key=lambda row: row["ms"])
    return ratios.ratio([base["rounds"][i] for i in at], [rows[name]["rounds"][i] for i in at])


def print_places(rows, distances):
    for place, (at, ns) in placement.by_place(distances).items():
        for name in OURS:
            if "rounds" in rows.get(name, {}) and any("rounds" in rows.get(r, {}) for r in RUNTIMES):
                middle, low, high = over_at(rows, name, at)
                print(f"\ncores {place} ({ns:.0f} ns, {len(at)} of {len(distances)} rounds): {name} over ONNX Runtime {middle:.2f} [{low:.2f}, {high:.2f}]", flush=True)


def print_means(models, distances):
    for name in OURS:
        ratio = [rows[name]["over_onnxruntime"] for rows in models.values() if "over_onnxruntime" in rows.get(name, {})]
        if len(ratio) > 1:
            print(f"\n{name} over ONNX Runtime, geometric mean of {len(ratio)} models: {statistics.geometric_mean(ratio):.2f}")
        for place in ("together", "apart"):
            at = {model: placement.by_place(distances[model]).get(place, ([], 0))[0] for model in models}
            ratio = [over_at(rows, name, at[model])[0] for model, rows in models.items() if len(at[model]) > 2 and "rounds" in rows.get(name, {})]
            if len(ratio) > 1:
                print(f"\n{name} over ONNX Runtime, cores {place}, geometric mean of {len(ratio)} models: {statistics.geometric_mean(ratio):.2f}")


def sessions_of(stem, label, folder):
    sessions = {}
    for name, suffix in (("tuned", ""), ("tuned bf16", ".bf16")):
        file = os.path.join(folder or "", f"{stem}{suffix}.amdahl")
        if folder and os.path.exists(file):
            sessions[name] = file
        elif folder:
            print(f"  {label}: no session {file}", file=sys.stderr)
    return sessions


def options_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=MODELS, help="shipped names or .onnx files (default: all six)")
    parser.add_argument("--sessions", help="folder with NAME.amdahl, and NAME.bf16.amdahl where bf16 was allowed; adds the arms 'tuned' and 'tuned bf16'")
    parser.add_argument("--only", help="arms to run, separated by commas (ONNX Runtime always runs)")
    parser.add_argument("--peer", action="append", default=[], metavar="LABEL=COMMAND",
                        help="one more arm, whatever --only says: COMMAND MODEL INPUT_DIR THREADS obeys the protocol of docs/compare.md")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--json", help="file for all figures, written anew after each model; one in bench/results gets a place in docs/results.md (bench/results/page)")
    parser.add_argument("--program", required=True, help="path of amdahl")
    return parser.parse_args()


def main():
    options = options_of_command_line()
    results = {**provenance(options), "machine": machine(options.threads), "models": {}, "core_distance_ns": {}}
    print(json.dumps(results["machine"]))
    for model in options.models:
        shipped = not model.endswith(".onnx")
        stem = model if shipped else os.path.basename(os.path.dirname(os.path.abspath(model)))
        label = model if shipped else stem + "/" + os.path.basename(model)
        sessions = sessions_of(stem, label, options.sessions)
        rows, distances = measure(label, model, sessions, options)
        results["models"][label], results["core_distance_ns"][label] = rows, distances
        print_table(label, rows, {name: share_of_floor(options.program, file) for name, file in sessions.items()})
        print_places(rows, distances)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(results, file, indent=1)
    print_means(results["models"], results["core_distance_ns"])
    sys.exit(any("failed" in row for rows in results["models"].values() for row in rows.values()))


if __name__ == "__main__":
    main()
