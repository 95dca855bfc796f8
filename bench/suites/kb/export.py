"""An ONNX file of a problem, by whichever exporter of PyTorch writes one."""
import os
import re
import shutil
import warnings

import numpy as np
import onnx
import torch
from problem import Problem

EXPORTERS = {"dynamo": {"dynamo": True}, "torchscript": {"dynamo": False, "opset_version": 17}}


def one_line(error):
    """What an exporter's own failure was caused by in the end, without its advice and its colours."""
    while error.__cause__ is not None:
        error = error.__cause__
    words = re.sub(r"\x1b\[[0-9;]*m", "", f"{type(error).__name__}: {error}").split()
    return " ".join(words)[:300]


def write(module, arguments, names, folder, how):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path = os.path.join(folder, "model.onnx")
    with torch.no_grad():
        torch.onnx.export(module, tuple(arguments), path, input_names=list(names.values()), verbose=False, **how)
    return [i.name for i in onnx.load(path, load_external_data=False).graph.input]


def save_inputs(problem, folder, kept):
    """Those of the timing, a file for each input of the ONNX file."""
    arguments = problem.arguments()
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for k, name in problem.input_names(arguments).items():
        if name in kept:
            np.save(os.path.join(folder, f"{name}.npy"), arguments[k].numpy())


def export(path, folder):
    """FOLDER/onnx/model.onnx. Returns what is known of it: which exporter wrote it, its inputs, which exporters failed and why."""
    warnings.filterwarnings("ignore")
    problem, facts = Problem(path), {"failed": {}}
    facts["random"] = problem.random
    arguments = problem.arguments()
    module = problem.for_export()
    for name, how in EXPORTERS.items():
        try:
            facts["inputs"] = write(module, arguments, problem.input_names(arguments), os.path.join(folder, "onnx"), how)
            facts["exporter"] = name
            break
        except Exception as error:  # an exporter's own failure
            facts["failed"][name] = one_line(error)
    return facts


def redraw_inputs(path, folder, names):
    save_inputs(Problem(path), folder, names)
    return {}
