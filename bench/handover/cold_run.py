"""cold_run.py EXPORT_DIR INPUT_DIR: what ONNX Runtime takes for a run of its own, from Python, in microseconds.

Times session.run of a model of one Shape node: twice in a row, and after a run of the cxx export in EXPORT_DIR, which leaves the caches full
of the model. handover.py makes both folders (DIR/NAME/cxx and DIR/NAME/inputs).
"""
import statistics
import sys
import time

import onnxruntime as ort
from onnx import TensorProto, helper

import export_arm

RUNS = 400


def one_node(shape):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [len(shape)])
    graph = helper.make_graph([helper.make_node("Shape", ["x"], ["y"])], "one_node", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, inputs = sys.argv[1:]
    values = export_arm.arm.load_inputs(inputs)
    model = export_arm.cxx(folder, values)
    x = next(v for v in values.values() if v.dtype == "float32")
    session = one_node(x.shape)
    hot, cold = [], []
    for _ in range(RUNS):
        for times, before in ((hot, lambda: session.run(None, {"x": x})), (cold, model)):
            before()
            start = time.perf_counter()
            session.run(None, {"x": x})
            times.append((time.perf_counter() - start) * 1e6)
    print(f"after another such run {statistics.median(hot):.0f} us, after a run of the model {statistics.median(cold):.0f} us")


main()
