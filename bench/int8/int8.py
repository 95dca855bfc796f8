"""Shipped models quantized to 8 bits, tuned here and beside other runtimes: a row a file, ratios from rounds of one process after the other.

Static: QDQ, u8 activations, i8 weights by channel, calibrated on two random inputs. Dynamic: i8 weights. Weights are the shipped models' random ones: what
is measured is speed, and that all runtimes compute the same. Files, sessions and results are kept in bench/int8/.files.
"""

import argparse
import json
import os
import pathlib
import subprocess

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from tuned_beside import line, tuned_beside

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE / ".files"
PROGRAM = os.environ["AMDAHL_PROGRAM"]
MODELS = {"resnet50": ["static"], "mobilenet-v2": ["static"], "bert-base": ["dynamic", "static"], "gpt2": ["dynamic", "static"]}


class RandomInputs(CalibrationDataReader):
    def __init__(self, model, count=2):
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        random = np.random.default_rng(0)
        self.inputs = iter([{i.name: self.one(i, random) for i in session.get_inputs()} for _ in range(count)])

    @staticmethod
    def one(given, random):
        shape = [d if isinstance(d, int) else 1 for d in given.shape]
        if "int" in given.type:
            return random.integers(0, 2 if "mask" in given.name or "type" in given.name else 1000, shape).astype(np.int64 if "64" in given.type else np.int32)
        return random.standard_normal(shape).astype(np.float32)

    def get_next(self):
        return next(self.inputs, None)


def quantized(name, way):
    """The file of a model in 8 bits, made when it is not there."""
    made = FILES / f"{name}.{way}.onnx"
    if made.exists():
        return made
    floats, prepared = FILES / f"{name}.onnx", FILES / f"{name}.prepared.onnx"
    if not floats.exists():
        subprocess.run([PROGRAM, "models", name, "-o", str(floats), "--quiet"], check=True)
    if not prepared.exists():
        quant_pre_process(str(floats), str(prepared), skip_symbolic_shape=True)
    part = made.with_suffix(".part")
    if way == "dynamic":
        quantize_dynamic(str(prepared), str(part), weight_type=QuantType.QInt8)
    else:
        quantize_static(str(prepared), str(part), RandomInputs(floats), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8)
    part.rename(made)
    return made


def main():
    arguments = argparse.ArgumentParser(description="8-bit models here and in other runtimes")
    arguments.add_argument("--minutes", type=float, default=5, help="to tune each file (default 5)")
    arguments.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)} (default: all)")
    given = arguments.parse_args()
    for name in given.models:
        if name not in MODELS:
            arguments.error(f"no model '{name}': one of {', '.join(MODELS)}")
    FILES.mkdir(exist_ok=True)
    for name in given.models or MODELS:
        for way in MODELS[name]:
            model = quantized(name, way)
            document = tuned_beside(PROGRAM, model, model.with_suffix(".amdahl"), given.minutes, ["onnxruntime", "openvino f32"])
            (FILES / f"{name}.{way}.json").write_text(json.dumps(document, indent=1))
            print(line(f"{name} {way}", document), flush=True)


if __name__ == "__main__":
    main()
