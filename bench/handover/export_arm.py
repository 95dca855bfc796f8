"""An export as an arm of the peers' protocol (docs/compare.md): export_arm.py {cxx|onnxruntime|pytorch} FOLDER MODEL INPUT_DIR"""
import ctypes
import glob
import os
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../cli/peers/arms"))
import arm  # noqa: E402

DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "bool": np.bool_}


class Tensor(ctypes.Structure):
    """NAME_tensor of the export's header."""
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_int),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t)]


def cxx(folder, inputs):
    name = os.path.basename(glob.glob(f"{folder}/include/*.h")[0])[:-2]
    library = ctypes.CDLL(glob.glob(f"{folder}/build/lib{name}.so")[0])

    def tensors(what):
        count = ctypes.c_int.in_dll(library, f"{name}_{what}_count").value
        return list((Tensor * count).in_dll(library, f"{name}_{what}s"))

    create = getattr(library, f"{name}_create")
    create.restype = ctypes.c_void_p
    error = ctypes.create_string_buffer(1024)
    model = create(f"{folder}/weights.bin".encode(), error, ctypes.c_size_t(1024))
    if not model:
        sys.exit(error.value.decode())
    feeds = [np.ascontiguousarray(inputs[t.name.decode()]) for t in tensors("input")]
    outputs = [np.empty(t.shape[:t.rank], DTYPES[t.dtype.decode()]) for t in tensors("output")]
    pointers = [(ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays)) for arrays in (feeds, outputs)]
    call = getattr(library, f"{name}_run")
    handle = ctypes.c_void_p(model)

    def run():
        call(handle, *pointers)
        return outputs
    run.inputs = feeds  # alive as long as their addresses are used
    return run


def onnxruntime(folder, inputs):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # the operators bring OpenMP's
    options.register_custom_ops_library(glob.glob(f"{folder}/lib*_onnxruntime.so")[0])
    session = ort.InferenceSession(glob.glob(f"{folder}/*.onnx")[0], options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)


def pytorch(folder, inputs):
    import importlib
    import torch
    package = os.path.dirname(glob.glob(f"{folder}/**/__init__.py", recursive=True)[0])
    sys.path.insert(0, os.path.dirname(package))
    module = importlib.import_module(os.path.basename(package))
    feeds = [torch.from_numpy(inputs[name]) for name, _, _ in module.INPUTS]

    def run():
        with torch.inference_mode():
            outputs = module.model(*feeds)
        return [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    return run


def main():
    form, folder, _, inputs = sys.argv[1:5]
    start = time.perf_counter()
    run = {"cxx": cxx, "onnxruntime": onnxruntime, "pytorch": pytorch}[form](folder, arm.load_inputs(inputs))
    run()
    arm.serve(run, (time.perf_counter() - start) * 1e3)


if __name__ == "__main__":
    main()
