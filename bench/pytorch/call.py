"""call.py [--json FILE]: what a call costs beyond its kernels, one input and one output, one thread: Linear(16, 16) and ReLU, called from Python.

Blocks of calls take turns, so that a slow second meets all; nothing here spins between calls. Each call is timed apart."""
import argparse
import json
import os
import tempfile
import time

import numpy as np
import torch

import amdahl

CALLS, WARM, ROUNDS = 4000, 200, 5


def block(f, x):
    clock, times = time.perf_counter_ns, []
    for _ in range(WARM):
        f(x)
    for _ in range(CALLS):
        start = clock()
        f(x)
        times.append(clock() - start)
    return times


def onnxruntime_session(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def ways(module, x, folder):
    """Name: (callable, what it is called with). Tensors in, a new tensor out, but for the two that say otherwise."""
    fast = amdahl.optimize(module, x, minutes=0.3, progress=False)
    bound, out = fast._bounds[0], torch.empty(1, 16)
    handle, at, to = bound.plan.handle, bound.plan.input_pointers(x.data_ptr()), bound.plan.output_pointers(out.data_ptr())
    path = os.path.join(folder, "module.onnx")
    torch.onnx.export(module, (x,), path, dynamo=True, verbose=False)
    session = onnxruntime_session(path)
    name = session.get_inputs()[0].name
    compiled = torch.compile(module)
    return {
        "nothing, timed": (lambda _: None, x),
        "amdahl": (fast, x),
        "amdahl, its kernels alone (C, same pointers)": (lambda _: bound.plan.run_at(handle, at, to), x),
        "eager": (module, x),
        "torch.compile": (compiled, x),
        "ONNX Runtime, NumPy's arrays": (lambda a: session.run(None, {name: a}), x.numpy()),
        "ONNX Runtime, tensors": (lambda t: torch.from_numpy(session.run(None, {name: t.numpy()})[0]), x),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    module, x = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU()).eval(), torch.randn(1, 16)
    with torch.inference_mode(), tempfile.TemporaryDirectory() as folder:
        arms = ways(module, x, folder)
        want = module(x)
        for name in ("amdahl", "torch.compile", "ONNX Runtime, tensors"):
            torch.testing.assert_close(arms[name][0](x), want, msg=name)
        times = {name: [] for name in arms}
        for _ in range(ROUNDS):
            for name, (f, argument) in arms.items():
                times[name] += block(f, argument)
    results = {name: {"median_us": float(np.median(t)) / 1e3, "p99_us": float(np.percentile(t, 99)) / 1e3} for name, t in times.items()}
    kernels = results["amdahl, its kernels alone (C, same pointers)"]["median_us"]
    print("| one call | median, us | p99 | beyond the kernels |\n|---|---|---|---|")
    for name, row in results.items():
        beyond = f"{row['median_us'] - kernels:.1f}" if name == "amdahl" else ""
        print(f"| {name} | {row['median_us']:.2f} | {row['p99_us']:.2f} | {beyond} |")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
