"""Walks models through profile, tune, verify, run, export, and the export's own self-test; one line a model, and results.json.

A model passes when every command exits with 0, the export builds and its self-test holds, and the tuned plan's outputs are within
1e-4 (relative norm) of ONNX Runtime's on the same file and inputs."""
import argparse
import json
import os
import re
import sys

import numpy as np
import onnx
import onnxruntime

from measured_command import command

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../peers"))
import ratios  # noqa: E402

SHIPPED = ["gpt2", "bert-base", "llama-160m", "resnet50", "mobilenet-v2", "vit-b16"]
DTYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64}


def inputs_of(path):
    graph = onnx.load(path, load_external_data=False).graph
    weights = {t.name for t in graph.initializer}
    rng = np.random.default_rng(3)
    feeds = {}
    for v in graph.input:
        if v.name in weights:
            continue
        shape = [d.dim_value for d in v.type.tensor_type.shape.dim]
        dtype = DTYPES[v.type.tensor_type.elem_type]
        if dtype == np.float32:
            feeds[v.name] = rng.standard_normal(shape).astype(dtype)
        elif "mask" in v.name:
            feeds[v.name] = np.ones(shape, dtype)
        elif "type" in v.name:
            feeds[v.name] = np.zeros(shape, dtype)
        else:
            feeds[v.name] = rng.integers(0, 100, shape).astype(dtype)
    return feeds, [o.name for o in graph.output]


def difference(program, session, path, folder):
    """Largest relative norm over outputs of the tuned plan's difference from ONNX Runtime."""
    feeds, names = inputs_of(path)
    argv = [program, "run", session, "-o", f"{folder}/out", "--quiet"]
    for i, (name, value) in enumerate(feeds.items()):
        np.save(f"{folder}/in_{i}.npy", value)
        argv += ["--input", f"{name}={folder}/in_{i}.npy"]
    command(argv)
    got = []
    for name in names:
        file = re.sub(r"[^A-Za-z0-9._-]", "_", name)
        got.append(np.load(f"{folder}/out/{'_' + file if file[0] == '.' else file}.npy"))
    return ratios.difference(got, onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feeds))


def walk(program, model, minutes, folder):
    os.makedirs(folder, exist_ok=True)
    session, path = f"{folder}.amdahl", model
    if model.startswith("builtin:"):
        path = f"{folder}/model.onnx"
        if not os.path.exists(path):
            command([program, "models", model[8:], "-o", path])
    r = {"model": model}
    profile, r["profile_seconds"], _ = command([program, "profile", model, "--json", "--quiet"])
    r["starter_ms"] = 1e3 * json.loads(profile)["profile"]["seconds"]
    tune, _, r["peak_mib"] = command([program, "tune", model, "--session", session, "--minutes", str(minutes), "--no-wisdom", "--json", "--quiet"])
    report = json.loads(tune)
    r["experiments"], r["kept"] = len(report["experiments"]), sum(e["outcome"] == "kept" for e in report["experiments"])
    h = report.get("headline") or {"gain": {"log": 0, "lo": 0, "hi": 0}}
    r["speedup"] = [float(np.exp(h["gain"][k])) for k in ("log", "lo", "hi")]
    r["verify"] = command([program, "verify", session, "--quiet"])[0].strip().splitlines()[-1]
    r["difference"] = difference(program, session, path, folder)
    command([program, "export", session, "--format", "cxx", "-o", f"{folder}/export", "--quiet"])
    command(["cmake", "-S", ".", "-B", "build"], f"{folder}/export")
    command(["cmake", "--build", "build", "-j2"], f"{folder}/export")
    r["selftest"] = command(["./build/selftest", "."], f"{folder}/export")[0].strip().splitlines()[-1]
    command(["./build/example"], f"{folder}/export")
    return r


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--folder", default="acceptance", help="gets NAME.amdahl and NAME/export; outside the repository (default: ./acceptance)")
    parser.add_argument("models", nargs="*", default=["builtin:" + m for m in SHIPPED])
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    results, failed = [], 0
    for model in options.models:
        name = model[8:] if model.startswith("builtin:") else os.path.basename(os.path.dirname(os.path.abspath(model)))
        try:
            r = walk(options.program, model, options.minutes, os.path.join(os.path.abspath(options.folder), name))
            ok = r["difference"] < 1e-4
            print(f"{name:26s} {'ok' if ok else 'FAILED'}  starter {r['starter_ms']:.2f} ms, {r['speedup'][0]:.2f}x [{r['speedup'][1]:.2f}, "
                  f"{r['speedup'][2]:.2f}], {r['kept']} of {r['experiments']} kept, peak {r['peak_mib']:.0f} MiB, {r['difference']:.1e} from "
                  f"ONNX Runtime; {r['verify']}; {r['selftest']}", flush=True)
        except (RuntimeError, OSError, KeyError, ValueError) as e:
            r, ok = {"model": model, "error": str(e)}, False
            print(f"{name:26s} FAILED  {e}", flush=True)
        failed += not ok
        results.append(r)
        with open(os.path.join(options.folder, "results.json"), "w") as f:
            json.dump(results, f, indent=1)
    sys.exit(1 if failed else 0)


main()
