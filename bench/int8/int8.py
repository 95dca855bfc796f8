"""Shipped models quantized to 8 bits, tuned here and beside other runtimes: a row a file, ratios from rounds of one process after the other.

Static: QDQ, u8 activations, i8 weights by channel, calibrated on two random inputs. Dynamic: i8 weights. Weights are the shipped models' random ones: what
is measured is speed, and that all runtimes compute the same. Files, sessions and results are kept in bench/int8/.files.
"""

import pathlib
import subprocess

import numpy as np
import onnxruntime
import tuned_beside
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE / ".files"
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
        subprocess.run([tuned_beside.PROGRAM, "models", name, "-o", str(floats), "--quiet"], check=True)
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


if __name__ == "__main__":
    tuned_beside.main(__doc__, MODELS, 5, FILES, lambda name: [quantized(name, way) for way in MODELS[name]])
