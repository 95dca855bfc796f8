"""table.py FOLDER: what bench/kernels/run measured, as a Markdown table."""
import json
import os
import subprocess
import sys

folder = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))
size = {}
for line in subprocess.run([sys.executable, f"{here}/make_models.py", "--list"], capture_output=True, text=True, check=True).stdout.splitlines():
    name, gflop, megabytes = line.split()
    size[name] = (float(gflop), float(megabytes))
sys.path.insert(0, os.path.join(here, "../peers"))
import ratios  # noqa: E402

with open(f"{folder}/peers.json") as file:
    results = json.load(file)["models"]
print("| kernel | starter, ms | tuned, ms | rate | ONNX Runtime, ms | OpenVINO, ms | best peer over tuned [95%] | difference |")
print("|---|---|---|---|---|---|---|---|")
for label, arms in results.items():
    name = label.split("/")[0]
    gflop, megabytes = size[name]
    if failed := [f"{arm}: {row['failed']}" for arm, row in arms.items() if "failed" in row]:
        print(f"| {name} | failed: {'; '.join(failed)} | | | | | | |")
        continue
    tuned = arms["tuned"]
    runtime = min((arms[a] for a in ("onnxruntime", "onnxruntime plain") if a in arms), key=lambda row: row["ms"])
    peers = {"ONNX Runtime": runtime, **({"OpenVINO": arms["openvino f32"]} if "openvino f32" in arms else {})}
    best = min(peers, key=lambda peer: peers[peer]["ms"])
    middle, low, high = ratios.ratio(peers[best]["rounds"], tuned["rounds"])
    rate = f"{gflop / tuned['ms'] * 1e3:.0f} GFLOP/s" if gflop else f"{megabytes / tuned['ms']:.1f} GB/s"
    vino = f"{peers['OpenVINO']['ms']:.3f}" if "OpenVINO" in peers else "-"
    print(f"| {name} | {arms['starter']['ms']:.3f} | {tuned['ms']:.3f} | {rate} | {runtime['ms']:.3f} | {vino} | "
          f"{middle:.2f} [{low:.2f}, {high:.2f}] {best} | {tuned['error']:.1e} |")
