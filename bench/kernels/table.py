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
with open(f"{folder}/peers.json") as file:
    results = json.load(file)
print("| kernel | starter, ms | tuned, ms | GFLOP/s or GB/s | ONNX Runtime, ms | OpenVINO, ms | best peer over tuned (over rounds of ONNX Runtime's) | difference |")
print("|---|---|---|---|---|---|---|---|")
for label, arms in results.items():
    name = label.split("/")[0]
    gflop, megabytes = size[name]
    tuned, ort = arms["tuned"], arms["onnxruntime"]
    peers = {"ONNX Runtime": min(ort["ms"], arms.get("onnxruntime plain", ort)["ms"])}
    if "openvino f32" in arms:
        peers["OpenVINO"] = arms["openvino f32"]["ms"]
    best = min(peers, key=peers.get)
    rate = f"{gflop / tuned['ms'] * 1e3:.0f} GFLOP/s" if gflop else f"{megabytes / tuned['ms']:.1f} GB/s"
    vino = f"{peers['OpenVINO']:.3f}" if "OpenVINO" in peers else "-"
    print(f"| {name} | {arms['starter']['ms']:.3f} | {tuned['ms']:.3f} | {rate} | {peers['ONNX Runtime']:.3f} | {vino} | "
          f"{peers[best] / tuned['ms']:.2f} {best} ({tuned['low']:.2f} .. {tuned['high']:.2f}) | {tuned['error']:.1e} |")
