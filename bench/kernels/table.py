"""table.py FOLDER COMMAND [JSON]: what bench/kernels/run measured, as a Markdown table; and all of it into the file JSON, as bench/results/page reads it."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../peers"))
import compare  # noqa: E402

RUNTIMES = ("onnxruntime", "onnxruntime plain")  # of which the faster counts
PEERS = {"OpenVINO": "openvino f32", "oneDNN": "oneDNN", "OpenBLAS": "OpenBLAS", "hand-written": "hand-written"}  # column: arm
LARGEST_DIFFERENCE = 1e-4  # from ONNX Runtime's output: a peer beyond it computes something else
COLUMNS = ["kernel", "starter, ms", "tuned, ms", "rate", "ONNX Runtime, ms", *(f"{peer}, ms" for peer in PEERS),
           "best peer over tuned [95%]", "difference"]


def sizes():
    """Name: GFLOP (0 where bytes count), MB of operands."""
    listed = subprocess.run([sys.executable, f"{HERE}/make_models.py", "--list"], capture_output=True, text=True, check=True).stdout
    return {name: (float(gflop), float(megabytes)) for name, gflop, megabytes in map(str.split, listed.splitlines())}


def measured(folder):
    """One document of both runs: products and the other kernels have different peers."""
    document = {"models": {}, "core_distance_ns": {}}
    for run in ("products", "others"):
        if os.path.exists(path := f"{folder}/{run}.json"):
            with open(path) as file:
                part = json.load(file)
            for key in ("models", "core_distance_ns"):
                part[key] = {**document[key], **{label.split("/")[0]: value for label, value in part[key].items()}}
            document = part
    for arms in document["models"].values():
        for label, row in arms.items():
            if label not in compare.OURS and "failed" not in row and why_not(row):
                row["wrong"] = why_not(row)
        if "tuned" in arms:
            right = [label for label in compare.peers_of(arms, "tuned") if not arms[label].get("wrong")]
            arms["tuned"]["over_best_peer"] = compare.over_best_peer(arms, "tuned", right)
    return document


def why_not(row):
    """What keeps an arm out of the comparison, or None."""
    if "failed" in row:
        return row["failed"]
    return f"wrong by {row['error']:.1e}" if not row["error"] <= LARGEST_DIFFERENCE else None


def cell(row):
    return "-" if row is None else why_not(row) or f"{row['ms']:.3f}"


def line(name, arms, gflop, megabytes):
    needed = ("starter", "tuned", "onnxruntime")
    if failed := [f"{arm}: {arms[arm]['failed']}" for arm in needed if "failed" in arms[arm]]:
        return [name, f"failed: {'; '.join(failed)}"]
    tuned = arms["tuned"]
    runtime = min((arms[a] for a in RUNTIMES if a in arms and "failed" not in arms[a]), key=lambda row: row["ms"])
    best = tuned["over_best_peer"]
    peer = next((column for column, arm in PEERS.items() if arm == best["peer"]), "ONNX Runtime")
    rate = f"{gflop / tuned['ms'] * 1e3:.0f} GFLOP/s" if gflop else f"{megabytes / tuned['ms']:.1f} GB/s"
    return [name, cell(arms["starter"]), cell(tuned), rate, cell(runtime), *(cell(arms.get(arm)) for arm in PEERS.values()),
            f"{best['ratio']:.2f} [{best['low']:.2f}, {best['high']:.2f}] {peer}", f"{tuned['error']:.1e}"]


def main():
    folder, command, *files = sys.argv[1:]
    size = sizes()
    document = {**measured(folder), "bench": "bench/kernels/run", "command": command}
    for path in files:
        with open(path, "w") as file:
            json.dump(document, file, indent=1)
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for name, arms in document["models"].items():
        cells = line(name, arms, *size[name])
        print("| " + " | ".join(cells + [""] * (len(COLUMNS) - len(cells))) + " |")


main()
