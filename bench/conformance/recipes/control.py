"""If, Loop and Scan: short bodies that read values around them."""
import numpy as np
from onnx import helper, numpy_helper

from cases import Fixed, TensorProto
from recipes import recipe

PAIRS, SINGLES = ["Add", "Sub", "Mul", "Max", "Min"], ["Tanh", "Neg", "Relu", "Abs", "Identity"]


class Body:
    """A subgraph in the making. Names of values come from `prefix`, since those of a body hide what is outside."""

    def __init__(self, d, prefix):
        self.d, self.prefix = d, prefix
        self.inputs, self.outputs, self.nodes, self.constants = [], [], [], []

    def name(self):
        return f"{self.prefix}_{len(self.nodes)}_{len(self.constants)}"

    def input(self, name, kind=TensorProto.FLOAT, shape=None):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, array):
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = self.name()
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def output(self, name, kind=TensorProto.FLOAT):
        if name not in {n.output[0] for n in self.nodes} or name in {o.name for o in self.outputs}:
            name = self.node("Identity", name)
        self.outputs.append(helper.make_tensor_value_info(name, kind, None))

    def computed(self, names, shape):
        """Of values of one shape another: one to three steps."""
        value = self.d.one(*names)
        for _ in range(self.d.integer(1, 3)):
            if self.d.flag(0.3):
                value = self.node(self.d.one(*SINGLES), value)
            else:
                value = self.node(self.d.one(*PAIRS), value, self.d.one(*names, self.constant(self.d.values(shape))))
        return value

    def graph(self):
        return helper.make_graph(self.nodes, self.prefix, self.inputs, self.outputs, self.constants)


def captured(d, shape):
    return {f"c{i}": d.floats(shape) for i in range(d.integer(1, 2))}


def branch(d, name, names, shape, outputs, deeper):
    body = Body(d, name)
    for _ in range(outputs):
        value = body.computed(names, shape)
        if deeper and d.flag(0.3):
            condition = body.node("Greater", body.node("ReduceSum", value, keepdims=0), body.constant(np.float32(0)))
            inner = {f"{side}_branch": branch(d, f"{name}_{side}", names + [value], shape, 1, False) for side in ("then", "else")}
            value = body.node("If", condition, **inner)
        body.output(value)
    return body.graph()


@recipe("If")
def if_(d):
    shape, outputs = d.dims(d.integer(0, 3)), d.integer(1, 2)
    outside = captured(d, shape)
    condition = np.asarray(d.flag()) if d.flag(0.8) else np.asarray([d.flag()])
    branches = {f"{side}_branch": branch(d, side, list(outside), shape, outputs, True) for side in ("then", "else")}
    return d.case([d.maybe_fixed(condition, 0.4)], branches, outputs, outside)


@recipe("Loop")
def loop(d):
    shape, states, collected = d.dims(d.integer(0, 3)), d.integer(0 if d.version >= 11 else 1, 2), d.integer(0, 2)
    collected = collected or int(states == 0)
    outside, body = captured(d, shape), Body(d, "body")
    i, condition = body.input("i", TensorProto.INT64, []), body.input("condition", TensorProto.BOOL, [])
    names = list(outside) + [body.input(f"s{k}") for k in range(states)]
    if d.flag():
        names.append(body.node("Mul", body.node("Cast", i, to=int(TensorProto.FLOAT)), names[-1]))
    trips, last = d.integer(1, 5), d.integer(1, 5)
    ends = d.flag(0.4)
    body.output(body.node("Less", i, body.constant(np.int64(last - 1))) if ends else condition, TensorProto.BOOL)
    for _ in range(states + collected):
        body.output(body.computed(names, shape))
    count = Fixed(np.asarray(trips, np.int64)) if not ends or d.flag() else None
    goes_on = Fixed(np.asarray(True)) if d.flag() or count is None else None
    return d.case([count, goes_on] + [d.floats(shape) for _ in range(states)], {"body": body.graph()}, states + collected, outside)


@recipe("Scan")
def scan(d):
    shape, states, scanned, collected = d.dims(d.integer(0, 2)), d.integer(0, 2), d.integer(1, 2), d.integer(1, 2)
    outside, body, steps = captured(d, shape), Body(d, "body"), d.integer(1, 5)
    names = [body.input(f"s{k}") for k in range(states)] + [body.input(f"r{k}") for k in range(scanned)] + list(outside)
    for _ in range(states + collected):
        body.output(body.computed(names, shape))
    axes = [d.integer(0, len(shape)) for _ in range(scanned)]
    rows = [d.floats(shape[:axis] + [steps] + shape[axis:]) for axis in axes]
    attributes = d.some(scan_input_directions=[[d.integer(0, 1) for _ in range(scanned)]], scan_output_directions=[[d.integer(0, 1) for _ in range(collected)]],
                        scan_output_axes=[[d.integer(0, len(shape)) for _ in range(collected)]])
    if any(axes) or d.flag():
        attributes["scan_input_axes"] = [a - len(shape) - 1 if d.version >= 11 and d.flag(0.3) else a for a in axes]
    return d.case([d.floats(shape) for _ in range(states)] + rows, attributes | {"num_scan_inputs": scanned, "body": body.graph()}, states + collected, outside)
