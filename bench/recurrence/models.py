"""Recurrent networks of sizes that people run, with random weights: a file a name.

lstm-step          one step of speech with its state in and out: LSTM of 128, twice, as voice activity detectors have it
gru-sequence       a hundred steps of a GRU of 256, one utterance
bilstm-ocr         the head of a text recogniser: two bidirectional LSTMs of 256 over 80 columns of 512 features, then 6,625 classes
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GATES = {"LSTM": 4, "GRU": 3}


class Maker:
    def __init__(self, name):
        self.name, self.nodes, self.weights, self.inputs, self.outputs = name, [], [], [], []
        self.random = np.random.default_rng(0)

    def weight(self, *shape):
        values = (self.random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def integers(self, *values):
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def given(self, name, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def node(self, op, inputs, outputs=1, **attributes):
        names = [f"{op.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def recurrence(self, op, x, features, hidden, states=(), direction="forward"):
        """All outputs of the node: [steps, directions, batch, hidden], then the last states."""
        d, gates = 2 if direction == "bidirectional" else 1, GATES[op]
        weights = [self.weight(d, gates * hidden, features), self.weight(d, gates * hidden, hidden), self.weight(d, 2 * gates * hidden)]
        more = {"linear_before_reset": 1} if op == "GRU" else {}
        return self.node(op, [x, *weights, "", *states], 3 if op == "LSTM" else 2, hidden_size=hidden, direction=direction, **more)

    def save(self, path, **results):
        for name, (value, shape) in results.items():
            self.nodes.append(helper.make_node("Identity", [value], [name]))
            self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def lstm_step(path):
    m = Maker("lstm-step")
    x = m.given("frame", 1, 1, 128)
    results = {}
    for layer in range(2):
        states = [m.given(f"{s}{layer}", 1, 1, 128) for s in "hc"]
        y, h, c = m.recurrence("LSTM", x, 128, 128, states)
        results[f"new_h{layer}"], results[f"new_c{layer}"] = (h, [1, 1, 128]), (c, [1, 1, 128])
        x = m.node("Squeeze", [y, m.integers(1)])
    speech = m.node("Sigmoid", [m.node("MatMul", [m.node("Relu", [x]), m.weight(128, 1)])])
    m.save(path, speech=(speech, [1, 1, 1]), **results)


def gru_sequence(path):
    m = Maker("gru-sequence")
    y, h = m.recurrence("GRU", m.given("frames", 100, 1, 256), 256, 256)
    m.save(path, states=(y, [100, 1, 1, 256]), last=(h, [1, 1, 256]))


def bilstm_ocr(path):
    m = Maker("bilstm-ocr")
    x, features = m.given("columns", 80, 1, 512), 512
    for _ in range(2):
        y, _, _ = m.recurrence("LSTM", x, features, 256, direction="bidirectional")
        x, features = m.node("Reshape", [m.node("Transpose", [y], perm=[0, 2, 1, 3]), m.integers(80, 1, 512)]), 512
    m.save(path, text=(m.node("Softmax", [m.node("Add", [m.node("MatMul", [x, m.weight(512, 6625)]), m.weight(6625)])], axis=-1), [80, 1, 6625]))


MAKERS = {"lstm-step": lstm_step, "gru-sequence": gru_sequence, "bilstm-ocr": bilstm_ocr}
