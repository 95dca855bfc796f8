"""call.py [--json FILE]: what a call costs beyond its kernels, one input and one output, one thread: Linear(16, 16) and ReLU, called from Python.

A process for each way to call it, three times in turns: torch.compile, once used, slows other calls of its process down. Each call is timed apart."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

CALLS, WARM, ROUNDS = 20000, 2000, 3
KERNELS = "amdahl, its kernels alone (C, same pointers)"


def timed(f, x):
    clock, times = time.perf_counter_ns, []
    for _ in range(WARM):
        f(x)
    for _ in range(CALLS):
        start = clock()
        f(x)
        times.append(clock() - start)
    return {"median_us": float(np.median(times)) / 1e3, "p99_us": float(np.percentile(times, 99)) / 1e3}


def amdahl_module(module, x):
    import amdahl
    return amdahl.optimize(module, x, minutes=0.3, progress=False)


def kernels_alone(module, x):
    bound, out = amdahl_module(module, x)._bounds[0], torch.empty(1, 16)
    handle, at, to = bound.plan.handle, bound.plan.input_pointers(x.data_ptr()), bound.plan.output_pointers(out.data_ptr())
    return lambda _, kept=(bound, x, out): kept[0].plan.run_at(handle, at, to)  # which own the memory


def onnxruntime_session(module, x):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.onnx")
        torch.onnx.export(module, (x,), path, dynamo=True, verbose=False)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session, session.get_inputs()[0].name


def arrays(module, x):
    session, name = onnxruntime_session(module, x)
    given = {name: x.numpy()}
    return lambda _: session.run(None, given)


def tensors(module, x):
    session, name = onnxruntime_session(module, x)
    return lambda t: torch.from_numpy(session.run(None, {name: t.numpy()})[0])


# Tensors in and a new tensor out, but for the two that say otherwise.
WAYS = {
    "nothing, timed": lambda module, x: lambda _: None,
    "amdahl": amdahl_module,
    KERNELS: kernels_alone,
    "eager": lambda module, x: module,
    "torch.compile": lambda module, x: torch.compile(module),
    "ONNX Runtime, NumPy's arrays": arrays,
    "ONNX Runtime, tensors": tensors,
}


def one(name):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    module, x = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU()).eval(), torch.randn(1, 16)
    with torch.inference_mode():
        f = WAYS[name](module, x)
        if isinstance(f(x), torch.Tensor):
            torch.testing.assert_close(f(x), module(x))
        return timed(f, x)


def in_a_process(name):
    done = subprocess.run([sys.executable, __file__, "--one", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if not done.stdout.strip():
        sys.exit(f"call.py: {name} did not run: try {sys.executable} {__file__} --one '{name}'")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--one", choices=list(WAYS))
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one)), flush=True)
        return
    rounds = [{name: in_a_process(name) for name in WAYS} for _ in range(ROUNDS)]
    results = {name: {key: statistics.median(r[name][key] for r in rounds) for key in rounds[0][name]} for name in WAYS}
    print("| one call | median, us | p99 | beyond the kernels |\n|---|---|---|---|")
    for name, row in results.items():
        beyond = f"{row['median_us'] - results[KERNELS]['median_us']:.1f}" if name == "amdahl" else ""
        print(f"| {name} | {row['median_us']:.2f} | {row['p99_us']:.2f} | {beyond} |")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
