"""table.py FOLDER: what bench/kernels/run measured, as a Markdown table."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../peers"))
import ratios  # noqa: E402

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
    """Arms by kernel; products and the other kernels have different peers, and a run each."""
    models = {}
    for run in ("products", "others"):
        if os.path.exists(path := f"{folder}/{run}.json"):
            with open(path) as file:
                models.update(json.load(file)["models"])
    return {label.split("/")[0]: arms for label, arms in models.items()}


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
    peers = {"ONNX Runtime": runtime, **{peer: arms[arm] for peer, arm in PEERS.items() if arm in arms and not why_not(arms[arm])}}
    best = min(peers, key=lambda peer: peers[peer]["ms"])
    middle, low, high = ratios.ratio(peers[best]["rounds"], tuned["rounds"])
    rate = f"{gflop / tuned['ms'] * 1e3:.0f} GFLOP/s" if gflop else f"{megabytes / tuned['ms']:.1f} GB/s"
    return [name, cell(arms["starter"]), cell(tuned), rate, cell(runtime), *(cell(arms.get(arm)) for arm in PEERS.values()),
            f"{middle:.2f} [{low:.2f}, {high:.2f}] {best}", f"{tuned['error']:.1e}"]


def main():
    size = sizes()
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for name, arms in measured(sys.argv[1]).items():
        cells = line(name, arms, *size[name])
        print("| " + " | ".join(cells + [""] * (len(COLUMNS) - len(cells))) + " |")


main()
