"""table.py FOLDER [NAME …]: what bench/exports/run measured, as a Markdown table; NAMEs that no exporter wrote get a row too."""
import json
import os
import sys


def read(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return json.load(file)


def megabytes(folder):
    """The model, with weights that lie in a file of their own."""
    return sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder) if f.startswith("model.onnx")) / 1e6


def row(folder, walked, peers):
    name = os.path.basename(os.path.dirname(walked["model"]))
    here = os.path.join(folder, name)
    with open(os.path.join(here, "exporter.txt")) as file:
        exporter = file.read().strip()
    cells = [name, exporter, f"{megabytes(here):.0f}"]
    if "error" in walked:
        return cells + ["failed: " + walked["error"].replace("|", "/").replace("\n", " ")[:160]] + ["-"] * 7
    gain = "{:.2f}x [{:.2f}, {:.2f}]".format(*walked["speedup"])
    cells += [f"{walked['starter_ms']:.2f}", str(walked["experiments"]), str(walked["kept"]), gain]
    arms = peers.get(f"{name}/model.onnx", {})
    runtimes = [arms[a] for a in ("onnxruntime", "onnxruntime plain") if "ms" in arms.get(a, {})]
    tuned, runtime = arms.get("tuned", {}), min(runtimes, key=lambda a: a["ms"], default=None)
    if "ms" not in tuned or not runtime:
        return cells + ["-", "-", "-", f"{walked['difference']:.1e}"]
    ratio = f"{tuned['over_onnxruntime']:.2f} [{tuned['low']:.2f}, {tuned['high']:.2f}]"
    return cells + [f"{tuned['ms']:.2f}", f"{runtime['ms']:.2f}", ratio, f"{max(walked['difference'], tuned['error']):.1e}"]


def main():
    folder = sys.argv[1]
    head = ["model", "exporter", "MB", "starter, ms", "experiments", "kept", "speed-up", "tuned, ms", "ONNX Runtime, ms",
            "tuned over ONNX Runtime", "difference"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    peers = dict(read(os.path.join(folder, "peers.json")) or {"models": {}})["models"]
    for walked in read(os.path.join(folder, "results.json")):
        print("| " + " | ".join(row(folder, walked, peers)) + " |")
    for name in sys.argv[2:]:
        print(f"| {name} | wrote no file: see above |" + " |" * (len(head) - 2))


main()
