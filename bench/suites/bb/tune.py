"""One signature, tuned by Amdahl and put before the general kernel of its folder when our gate finds it right."""
import importlib
import os
import re
import statistics
import sys
import time

from bb import folders, operators
from kb.processes import Failed, Late, program

# Operators that are one of ONNX's, of the same arguments.
IN_ONNX = {"mm.default": "MatMul", "bmm.default": "MatMul", "add.Tensor": "Add", "sub.Tensor": "Sub", "mul.Tensor": "Mul", "div.Tensor": "Div", "maximum.default": "Max",
           "minimum.default": "Min", "relu.default": "Relu", "sigmoid.default": "Sigmoid", "tanh.default": "Tanh", "exp.default": "Exp", "sqrt.default": "Sqrt", "erf.default": "Erf",
           "abs.default": "Abs", "neg.default": "Neg", "floor.default": "Floor", "ceil.default": "Ceil", "sin.default": "Sin", "cos.default": "Cos"}
ROUNDS = 200


def write_model(path, operator, args, result):
    import onnx
    from onnx import TensorProto, helper
    names = [f"x{i}" for i in range(len(args))]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(a.shape)) for name, a in zip(names, args)]
    graph = helper.make_graph([helper.make_node(IN_ONNX[operator], names, ["y"])], operator, inputs,
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, list(result.shape))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def milliseconds(arms, args):
    """Medians of calls in turns."""
    taken = {name: [] for name in arms}
    for _ in range(ROUNDS):
        for name, call in arms.items():
            begun = time.perf_counter()
            call(*args)
            taken[name].append(1e3 * (time.perf_counter() - begun))
    return {name: statistics.median(times) for name, times in taken.items()}


def compiled(out, operator, args, result, minutes):
    """The folder of its plan, inside amdahl_aten."""
    amdahl = os.environ["AMDAHL_PROGRAM"]
    stem = re.sub(r"\W+", "_", "_".join([operator, *("x".join(map(str, a.shape)) for a in args)]))
    work, place = os.path.join(out, "tuned"), os.path.join("plans", stem)
    os.makedirs(work, exist_ok=True), os.makedirs(os.path.join(out, "amdahl_aten", "plans"), exist_ok=True)
    model, session = (os.path.join(work, stem + end) for end in (".onnx", ".amdahl"))
    if not os.path.exists(model):
        write_model(model, operator, args, result)
    program(amdahl, "tune", model, "--session", session, "--minutes", minutes, "--json", "--quiet", seconds=60 * minutes + 600)
    program(amdahl, "export", session, "--format", "compiled", "-o", os.path.join(out, "amdahl_aten", place), "--json", "--quiet", seconds=600)
    return place


def tune(options):
    """Exits with what came of it."""
    sys.path[:0] = [options.checkout, options.out]
    import torch
    from BackendBench.utils import deserialize_args
    from bb import gate
    operator, _, text = options.tune.partition(" ")
    args, kwargs = deserialize_args(text)
    if operator not in IN_ONNX or kwargs or any(not isinstance(a, torch.Tensor) or a.dtype != torch.float32 or not a.is_contiguous() for a in args):
        sys.exit(f"backendbench: --tune takes dense float32 tensors alone, of {', '.join(sorted(IN_ONNX))}")
    args = tuple(torch.randn(a.shape) for a in args)
    name, _, overload = operator.partition(".")
    op = getattr(getattr(torch.ops.aten, name), overload)
    folder, result = operators.folder_of(operator), op(*args)
    try:
        place = compiled(options.out, operator, args, result, options.minutes)
    except (Failed, Late) as error:
        sys.exit(f"backendbench: {error}")
    tuned = importlib.import_module("amdahl_aten.tuned")
    general = getattr(importlib.import_module("amdahl_aten." + operators.served()[folder]), folder)
    plan = tuned.Plan(place, str(result.dtype), tuple(result.shape))
    try:
        worst = gate.Case(op, operator, (args, {}), terms=args[0].shape[-1] if IN_ONNX[operator] == "MatMul" else 1).judge(plan)
    except gate.Wrong as wrong:
        sys.exit(f"backendbench: the plan is not taken: {wrong}")
    plans = folders.read_table(options.out)
    plans[(folder, *tuned.names_of(args))] = (place, str(result.dtype), tuple(result.shape))
    folders.write_table(options.out, plans)
    times = milliseconds({"aten": op, "general": general, "tuned": plan}, args)
    print(f"{operator} {text}: right, error {worst:.2g} of what is allowed; ms: " + ", ".join(f"{arm} {ms:.4f}" for arm, ms in times.items()))
