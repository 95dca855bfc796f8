"""What other implementations say a case's outputs are. One that cannot compute it says why."""
import contextlib
import io
import logging
import warnings

import numpy as np
import onnxruntime
from onnx.reference import ReferenceEvaluator

import by_the_letter

# Functions of ONNX whose bodies hold constants in float32, or cast to it, and an Erf of a few digits: given float64 they are no more precise.
# Resize and LRN keep scales and attributes in float32, GridSample and DeformConv positions; of the transforms, the program itself holds cosines in the signal's type, and it rounds a half's Swish.
FLOAT32_INSIDE = {"AffineGrid", "Attention", "DeformConv", "DFT", "DynamicQuantizeLinear", "Erf", "Gelu", "GridSample", "GroupNormalization", "HardSwish", "InstanceNormalization",
                  "LayerNormalization", "LRN", "MelWeightMatrix", "Resize", "RMSNormalization", "STFT", "Swish"}
# Where it says something else in every case: float32 constants leave 1.5e-8 where a window begins with nothing; an LSTM rounds its states to 8 bits.
NOT_BY_ONNXRUNTIME = {"BlackmanWindow", "DynamicQuantizeLSTM"}

ONNX, ONNX_FLOAT64, ORT = "onnx.reference", "onnx.reference float64", "onnxruntime"
LETTER = "the letter in float64"
NAMES = [ONNX, ONNX_FLOAT64, LETTER, ORT]
logging.disable(logging.WARNING)
onnxruntime.set_default_logger_severity(4)


def by_onnx(case):
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return ReferenceEvaluator(case.model()).run(None, case.fed())


def by_onnxruntime(case):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(case.model().SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, case.fed())


def in_float64(case):
    wide = case.in_float64()
    return by_onnx(wide) if wide else None


def letter(case):
    with np.errstate(all="ignore"):
        return by_the_letter.compute(case)


def first_line(error):
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:160]


def questions(case):
    """Halves are rounded once, at the end, by the program, and after every operation by NumPy: those are asked in float64 alone."""
    halves = any(a.dtype == np.float16 for a in case.arrays().values()) and case.in_float64()
    if case.op in NOT_BY_ONNXRUNTIME:
        return [(ONNX, by_onnx), (LETTER, letter)]
    if case.op in FLOAT32_INSIDE:
        return [(ONNX, in_float64 if halves else by_onnx), (LETTER, letter), (ORT, by_onnxruntime)]
    return ([] if halves else [(ONNX, by_onnx)]) + [(ONNX_FLOAT64, in_float64), (LETTER, letter), (ORT, by_onnxruntime)]


def ask(case):
    """{reference: outputs}, {reference: why it has none}."""
    stated, silent = {}, {}
    for name, compute in questions(case):
        try:
            outputs = compute(case)
        except Exception as error:  # whatever a reference throws, it has no opinion
            silent[name] = first_line(error)
            continue
        if outputs is not None:
            stated[name] = [np.asarray(o) for o in outputs]
    return stated, silent
