"""Every ONNX file of the packages: whether it loads here, whether it computes what ONNX Runtime computes, and how long both take.

A file that does not load is listed with the program's own reason. Differences are relative to the output's size: the largest |ours - theirs| over the root mean square of
theirs. Times come from `amdahl compare`, which takes turns: of the plan as it is before anything is tuned (--starters), or of one that was tuned for M minutes."""
import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

import fetch
import inputs
import numpy as np
import onnxruntime

PROGRAM = os.environ["AMDAHL_PROGRAM"]
# ONNX Runtime's logistic function errs by 1.4e-7, whatever is left of it: of a detector's probabilities of 1e-8 (random inputs have no text) it gives up to five times
# as much, where ours are within 1.4e-7 of what they are. Smaller outputs than this are held to a share of it.
LEAST_SIZE = 1e-4


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def program(*arguments, seconds=900):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=seconds)


def sizes_of(path, theirs):
    """The shape of each input that the file leaves open, or why there is none: what sizes.json has, or what the program suggests when it is asked without."""
    rows = inputs.known(path)
    open_inputs = {i.name: i.shape for i in theirs.get_inputs() if any(not isinstance(d, int) for d in i.shape)}
    chosen = {name: [own if isinstance(own, int) else d for own, d in zip(open_inputs[name], shape)]
              for name, shape in rows.get("shapes", {}).items() if name in open_inputs and len(shape) == len(open_inputs[name])}
    if len(chosen) < len(open_inputs):
        said = program("playbook", path, *(word for n, s in chosen.items() for word in ("--shape", f"{n}={','.join(map(str, s))}"))).stderr
        for name, shape in inputs.shapes_suggested(said).items():
            chosen.setdefault(name, shape)
    return {i.name: chosen.get(i.name, i.shape) for i in theirs.get_inputs()}, chosen


def difference(ours, theirs):
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{list(ours.shape)} instead of {theirs.dtype}{list(theirs.shape)}"
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return "NaN elsewhere"
    a, b = np.nan_to_num(a), np.nan_to_num(b)
    return float(np.abs(a - b).max() / max(np.sqrt(np.mean(b * b)), LEAST_SIZE)) if a.size else 0.0


def answers(theirs, shapes, rows, seed):
    """Inputs that ONNX Runtime takes, and what it makes of them: a table may be smaller than most."""
    for below in (20, 8, 2):
        feeds = {i.name: inputs.draw(i.name, i.type, shapes[i.name], rows, seed + k, below) for k, i in enumerate(theirs.get_inputs())}
        try:
            return feeds, theirs.run(None, feeds)
        except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument:
            if below == 2:
                raise


def look(path, seed, options):
    """A row of the table."""
    try:
        theirs = session(path)
    except Exception as error:  # noqa: BLE001: what a runtime throws for a file is its own
        return {"theirs": str(error).splitlines()[0]}
    shapes, given = sizes_of(path, theirs)
    rows = inputs.known(path)
    words = [word for n, s in given.items() for word in ("--shape", f"{n}={','.join(map(str, s))}")]
    fixed = {n: v for n, v in rows.get("fixed", {}).items() if n in shapes}
    words += [word for n, v in fixed.items() for word in ("--value", f"{n}={v}")]
    row = {"inputs": {n: list(map(int, s)) if all(isinstance(d, int) for d in s) else [str(d) for d in s] for n, s in shapes.items()}}
    loaded = program("playbook", path, *words)
    if loaded.returncode:
        return {**row, "refused": loaded.stderr.strip()}
    if options.loads:
        return {**row, "loads": True}
    feeds, expected = answers(theirs, shapes, rows, seed)
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for k, (name, value) in enumerate((n, v) for n, v in feeds.items() if n not in fixed):
            np.save(os.path.join(folder, f"{k}.npy"), value)
            arguments += ["--input", f"{name}={folder}/{k}.npy"]
        ran = program("run", path, *words, *arguments, "-o", os.path.join(folder, "out"), "--json", "--threads", 2)
        if ran.returncode:
            return {**row, "failed": ran.stderr.strip() or f"exit code {ran.returncode}"}
        written = {o["name"]: o["file"] for o in json.loads(ran.stdout)["outputs"]}
        differences = [difference(np.load(written[o.name]), e) for o, e in zip(theirs.get_outputs(), expected)]
        row["difference"] = next((d for d in differences if isinstance(d, str)), None) or max(differences, default=0.0)
        if options.minutes or options.starters:
            row.update(measured(path, words, arguments, options))
    return row


def measured(path, words, given, options):
    """Seconds of the starter plan or the tuned one, and of ONNX Runtime, in turns and on the same inputs."""
    subject = [path, *words] if options.starters else [tuned(path, words, options)]
    compared = program("compare", *subject, *given, "--python", sys.executable, "--only", "onnxruntime", "--threads", 2, "--json", "--rounds", options.rounds)
    if compared.returncode:
        return {"failed": compared.stderr.strip()}
    arms = {arm["arm"]: arm for arm in json.loads(compared.stdout)["arms"]}
    theirs, ours = arms["onnxruntime"], next(arm for arm in arms.values() if arm["ours"])
    if theirs["reason"]:
        return {"failed": f"ONNX Runtime beside ours: {theirs['reason']}"}
    return {"seconds": ours["seconds"], "theirs_seconds": theirs["seconds"], "rounds": ours["round_seconds"], "theirs_rounds": theirs["round_seconds"]}


def over(row):
    """How many times ours ONNX Runtime takes."""
    return statistics.median(t / o for o, t in zip(row["rounds"], row["theirs_rounds"]))


def tuned(path, words, options):
    """The session of a file, made once."""
    folder = os.path.join(fetch.FILES, ".sessions")
    os.makedirs(folder, exist_ok=True)
    name = os.path.join(folder, path.replace(os.sep, "_")[-120:] + ".amdahl")
    if not os.path.exists(name):
        done = program("tune", path, *words, "--minutes", options.minutes, "--session", name, "--threads", 2, "--quiet", seconds=options.minutes * 120 + 900)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
    return name


def main():
    parser = argparse.ArgumentParser(prog="bench/wild/run", description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", help="of bench/wild/packages.txt (default: all)")
    parser.add_argument("--only", default="", help="files whose path has this text")
    parser.add_argument("--loads", action="store_true", help="say which files load, and compute nothing")
    parser.add_argument("--minutes", type=float, default=0, help="tune each file so long and measure both (default 0: do not)")
    parser.add_argument("--starters", action="store_true", help="measure both without tuning")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", metavar="FILE", help="rows as they are measured; those that are there already are not measured again")
    options = parser.parse_args()
    chosen = options.packages or fetch.packages()
    for package in chosen:
        if why := fetch.fetch(package):
            print(f"{package}: {why}", flush=True)
    rows = {}
    if options.json and os.path.exists(options.json):
        with open(options.json) as earlier:
            rows = json.load(earlier)["rows"]
    for package, name, path in fetch.files(chosen):
        if options.only not in path or f"{package}/{name}" in rows:
            continue
        try:
            row = look(path, 1, options)
        except subprocess.TimeoutExpired as error:
            row = {"failed": f"no end after {error.timeout:.0f} s: {shlex.join(error.cmd[1:3])}"}
        except RuntimeError as error:
            row = {"failed": str(error)}
        rows[f"{package}/{name}"] = row
        print(line(package, name, row), flush=True)
        if options.json:
            with open(options.json, "w") as out:
                json.dump({"bench": "bench/wild/run", "rows": rows}, out, indent=1)
    return summary(rows)


def line(package, name, row):
    head = f"{package}/{os.path.basename(name)}: "
    for key in ("theirs", "refused", "failed"):
        if key in row:
            return head + f"{'ONNX Runtime: ' if key == 'theirs' else key + ': '}{row[key][:600]}"
    if "loads" in row:
        return head + "loads"
    text = head + (f"{row['difference']:.1e}" if isinstance(row["difference"], float) else row["difference"])
    return text + (f", {1e3 * row['seconds']:.3g} ms, ONNX Runtime {1e3 * row['theirs_seconds']:.3g}: {over(row):.2f}" if "rounds" in row else "")


def summary(rows):
    there = [r for r in rows.values() if "theirs" not in r]
    refused = [r for r in there if "refused" in r]
    failed = [r for r in there if "failed" in r or isinstance(r.get("difference"), str) or r.get("difference", 0) > 1e-2]
    if any("loads" in r for r in there):
        print(f"\n{len(rows)} files; {len(there)} run in ONNX Runtime; {len(refused)} are refused here, {len(there) - len(refused)} load")
        return 0
    right = [r["difference"] for r in there if isinstance(r.get("difference"), float) and r["difference"] <= 1e-2]
    print(f"\n{len(rows)} files; {len(there)} run in ONNX Runtime; {len(refused)} are refused here, {len(failed)} fail or differ, {len(right)} match"
          + (f" (median difference {statistics.median(right):.0e})" if right else ""))
    if ratios := sorted((over(r), name) for name, r in rows.items() if "rounds" in r):
        mean = math.exp(statistics.fmean(math.log(r) for r, _ in ratios))
        behind = [f"{name} {r:.2f}" for r, name in ratios if r < 1]
        print(f"{len(ratios)} measured: ONNX Runtime takes {mean:.2f} times as long (geometric mean); behind: {', '.join(behind) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
