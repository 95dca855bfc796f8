"""An export for a card as an arm of the peers' protocol (docs/compare.md): export_arm.py {cxx|pytorch|hf-kernels} FOLDER {graph|calls}

One run is one replay of a CUDA graph of the export, as a plan's run is, or one call of it, between two events. Inputs are those of the self-test, which has
held the outputs to the reference."""
import ctypes
import glob
import importlib
import math
import os
import sys
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "cli", "peers", "arms"))
import arm  # noqa: E402

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8, "i16": torch.int16,
         "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool}


class Tensor(ctypes.Structure):
    """NAME_tensor of the export's header."""
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_int),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t)]


def on_card(folder, inputs):
    """`inputs`: type and shape of each, in the order of selftest.bin."""
    tensors = []
    with open(os.path.join(folder, "selftest.bin"), "rb") as file:
        for dtype, shape in inputs:
            kind = TYPES[dtype]
            content = file.read(math.prod(shape) * torch.empty(0, dtype=kind).element_size())
            tensors.append(torch.frombuffer(bytearray(content), dtype=kind).reshape(shape).cuda())
    return tensors


def cxx(folder):
    name = os.path.basename(glob.glob(f"{folder}/include/*.h")[0])[:-2]
    library = ctypes.CDLL(f"{folder}/build/lib{name}.so")

    def tensors(what):
        count = ctypes.c_int.in_dll(library, f"{name}_{what}_count").value
        return [(t.dtype.decode(), list(t.shape[:t.rank])) for t in (Tensor * count).in_dll(library, f"{name}_{what}s")]

    create, launch, last_error = (getattr(library, f"{name}_{what}") for what in ("create_on", "launch", "error"))
    create.restype, last_error.restype = ctypes.c_void_p, ctypes.c_char_p
    error = ctypes.create_string_buffer(1024)
    model = ctypes.c_void_p(create(torch.cuda.current_device(), b"tuned", f"{folder}/weights.bin".encode(), error, ctypes.c_size_t(len(error))))
    if not model:
        sys.exit(error.value.decode())
    inputs = on_card(folder, tensors("input"))
    outputs = [torch.empty(shape, dtype=TYPES[dtype], device="cuda") for dtype, shape in tensors("output")]
    pointers = [(ctypes.c_void_p * len(some))(*(t.data_ptr() for t in some)) for some in (inputs, outputs)]

    def run():
        if launch(model, *pointers, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)):
            sys.exit(last_error(model).decode())
    run.tensors = inputs, outputs  # alive as long as their addresses are used
    return run


def module(folder, packages):
    package = os.path.dirname(glob.glob(f"{packages}/*/__init__.py")[0])
    sys.path.insert(0, packages)
    exported = importlib.import_module(os.path.basename(package))
    if exported.build() != "tuned":
        sys.exit(f"its {exported.build()} kernels run here: measure it on a card like the session's")
    inputs = on_card(folder, [row[1:] for row in exported.INPUTS])
    return lambda: exported.model(*inputs)


def load(form, folder):
    if form == "cxx":
        return cxx(folder)
    return module(folder, os.path.join(folder, "python" if form == "pytorch" else "build/torch-cuda"))


def captured(run):
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = run()
    graph.outputs = outputs  # alive as long as the graph
    return graph


def main():
    form, folder, way = sys.argv[1:4]
    start = time.perf_counter()
    with torch.inference_mode():
        run = load(form, folder)
        graph = captured(run)
        once = graph.replay if way == "graph" else run
        before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

        def timed():
            before.record()
            once()
            after.record()
            after.synchronize()
            return before.elapsed_time(after)

        timed()
        arm.serve_clocked(timed, (time.perf_counter() - start) * 1e3)


main()
