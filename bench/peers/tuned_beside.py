"""Model files, each tuned once and set beside other runtimes: a line of figures a file, for benches whose models are files of their own."""
import argparse
import json
import os
import subprocess
import sys

import ratios
from comparison import compare, rounds_ms

PROGRAM = os.environ["AMDAHL_PROGRAM"]


def tuned_beside(model, minutes):
    """What `amdahl compare` says of the tuned plan, its starter, ONNX Runtime and OpenVINO. A session that exists is as it is: to tune again, remove it."""
    session = model.with_suffix(".amdahl")
    if not session.exists():
        subprocess.run([PROGRAM, "tune", str(model), "--session", str(session), "--minutes", str(minutes), "--quiet"], check=True, stdout=sys.stderr)
    return compare(PROGRAM, str(session), "--python", sys.executable, "--only", "starter,onnxruntime,openvino f32", "--quiet")


def line(title, document):
    """"TITLE: tuned 1.23 ms, …; onnxruntime over ours 1.10 [1.08, 1.12]": of the fastest runtime that computes the same."""
    rows = document["rows"]
    told = ", ".join(f"{name} {1e3 * row['seconds']:.3g} ms" for name, row in rows.items() if row.get("seconds"))
    failed = "".join(f"; {name}: {row['reason']}" for name, row in rows.items() if row.get("reason"))
    ours = next(row for row in rows.values() if row["ours"] and row["arm"] != "starter")
    others = [row for row in rows.values() if not row["ours"] and row.get("seconds") and not row.get("reason")]
    best = min(others, key=lambda row: row["seconds"], default=None)
    beside = "; {} over ours {:.2f} [{:.2f}, {:.2f}]".format(best["arm"], *ratios.ratio(rounds_ms(best), rounds_ms(ours))) if best else ""
    return f"{title}: {told}{beside}{failed}"


def main(description, known, minutes, folder, files_of):
    """The command line of such a bench. `files_of`: a model's name to its files, made when they are not there; sessions and results lie beside them, in `folder`."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--minutes", type=float, default=minutes, help=f"to tune each file (default {minutes})")
    arguments.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(known)} (default: all)")
    given = arguments.parse_args()
    for name in given.models:
        if name not in known:
            arguments.error(f"no model '{name}': one of {', '.join(known)}")
    folder.mkdir(exist_ok=True)
    for name in given.models or known:
        for model in files_of(name):
            document = tuned_beside(model, given.minutes)
            model.with_suffix(".json").write_text(json.dumps(document, indent=1))
            print(line(model.stem, document), flush=True)
