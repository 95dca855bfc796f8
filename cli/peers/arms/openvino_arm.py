"""OpenVINO: openvino_arm.py MODEL INPUT_DIR THREADS {f32|bf16}; latency hint, one stream, precision as asked for.

Inputs are set once, and outputs are read where they are: no run copies them. Dimensions that the file leaves open are fixed to those of the inputs."""
import sys
import time

import arm
import openvino as ov


def main():
    model, inputs, threads, precision = sys.argv[1:5]
    start = time.perf_counter()
    feeds = arm.load_inputs(inputs)
    core = ov.Core()
    graph = core.read_model(model)
    if graph.is_dynamic():
        graph.reshape({name: list(array.shape) for name, array in feeds.items()})
    compiled = core.compile_model(graph, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": int(threads), "NUM_STREAMS": 1,
                                                 "INFERENCE_PRECISION_HINT": precision, "ENABLE_CPU_PINNING": True})
    request = compiled.create_infer_request()
    for name, array in feeds.items():
        request.set_tensor(name, ov.Tensor(array, shared_memory=True))

    def run():
        request.start_async()
        request.wait()
        return [request.get_output_tensor(i).data for i in range(len(compiled.outputs))]

    arm.serve(run, (time.perf_counter() - start) * 1e3)


main()
