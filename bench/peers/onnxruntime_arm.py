"""ONNX Runtime: onnxruntime_arm.py MODEL INPUT_DIR THREADS {optimised|plain}"""
import sys
import time

import onnxruntime as ort

import arm

model, inputs, threads, level = sys.argv[1:5]
start = time.perf_counter()
options = ort.SessionOptions()
options.intra_op_num_threads = int(threads)
options.inter_op_num_threads = 1
options.log_severity_level = 3
options.graph_optimization_level = (
    ort.GraphOptimizationLevel.ORT_ENABLE_ALL if level == "optimised" else ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
feeds = arm.load_inputs(inputs)
arm.serve(lambda: session.run(None, feeds), (time.perf_counter() - start) * 1e3)
