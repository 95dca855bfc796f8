"""ONNX Runtime: onnxruntime_arm.py MODEL INPUT_DIR THREADS {optimised|plain}

Inputs and outputs are bound once, so that no run copies or allocates them; each thread has a CPU of its own."""
import os
import sys
import time

import numpy as np
import onnxruntime as ort

import arm

model, inputs, threads, level = sys.argv[1:5]
start = time.perf_counter()
cpus = sorted(os.sched_getaffinity(0))[:int(threads)]
options = ort.SessionOptions()
options.intra_op_num_threads = int(threads)
options.inter_op_num_threads = 1
options.log_severity_level = 3
options.graph_optimization_level = (
    ort.GraphOptimizationLevel.ORT_ENABLE_ALL if level == "optimised" else ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
if len(cpus) == int(threads) > 1:  # of the others; CPUs count from 1 here
    options.add_session_config_entry("session.intra_op_thread_affinities", ";".join(str(cpu + 1) for cpu in cpus[1:]))
session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
os.sched_setaffinity(0, cpus[:1])
feeds = arm.load_inputs(inputs)
outputs = [np.zeros_like(out) for out in session.run(None, feeds)]
binding = session.io_binding()
for name, array in feeds.items():
    binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
values = [ort.OrtValue.ortvalue_from_numpy(out) for out in outputs]
for out, value in zip(session.get_outputs(), values):
    binding.bind_ortvalue_output(out.name, value)


def run():
    session.run_with_iobinding(binding)
    return values


arm.serve(run, (time.perf_counter() - start) * 1e3, lambda values: [v.numpy() for v in values])
