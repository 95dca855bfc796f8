"""ONNX Runtime: onnxruntime_arm.py MODEL INPUT_DIR THREADS {optimised|unoptimised}

Inputs and outputs are bound once, so that no run copies or allocates them; each thread has a CPU of its own. Dimensions that the file leaves open are fixed to
those of the inputs before it optimises."""
import os
import sys
import time

import arm
import numpy as np
import onnxruntime as ort


def options_of(threads, level, sizes):
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = (
        ort.GraphOptimizationLevel.ORT_ENABLE_ALL if level == "optimised" else ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    if len(cpus) == threads > 1:  # of the others; CPUs count from 1 here
        options.add_session_config_entry("session.intra_op_thread_affinities", ";".join(str(cpu + 1) for cpu in cpus[1:]))
    for name, size in sizes.items():
        options.add_free_dimension_override_by_name(name, size)
    return options


def open_sizes(session, feeds):
    """Of the dimensions that have a name instead of a number."""
    return {name: size for i in session.get_inputs() if i.name in feeds for name, size in zip(i.shape, feeds[i.name].shape) if isinstance(name, str)}


def main():
    model, inputs, threads, level = sys.argv[1:5]
    start = time.perf_counter()
    feeds = arm.load_inputs(inputs)
    cpus = sorted(os.sched_getaffinity(0))[:int(threads)]
    session = ort.InferenceSession(model, options_of(int(threads), level, {}), providers=["CPUExecutionProvider"])
    if sizes := open_sizes(session, feeds):
        session = ort.InferenceSession(model, options_of(int(threads), level, sizes), providers=["CPUExecutionProvider"])
    os.sched_setaffinity(0, cpus[:1])
    binding = session.io_binding()
    for name, array in feeds.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    values = [ort.OrtValue.ortvalue_from_numpy(np.zeros_like(out)) for out in session.run(None, feeds)]
    for out, value in zip(session.get_outputs(), values):
        binding.bind_ortvalue_output(out.name, value)

    def run():
        session.run_with_iobinding(binding)
        return values

    arm.serve(run, (time.perf_counter() - start) * 1e3, lambda values: [v.numpy() for v in values])


main()
