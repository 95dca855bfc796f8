"""The files of bench/growth: decoder layers of one shape, 12, 24, 48 of them; and a chain of a thousand tiny steps."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
WIDTH, HEADS, TOKENS = 384, 6, 64
TINY = 8


class Writer:
    """Nodes and weights of a graph in the making; every value is named after the node that makes it."""

    def __init__(self, seed):
        self.nodes, self.constants, self.rng = [], {}, np.random.default_rng(seed)

    def weight(self, name, shape, deviation, mean=0.0):
        return self.constant(name, (mean + deviation * self.rng.standard_normal(shape)).astype(np.float32))

    def constant(self, name, array):
        self.constants.setdefault(name, numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, name, outputs=1, **attributes):
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=name, **attributes))
        return names[0] if outputs == 1 else names

    def save(self, path, shape, result):
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        self.nodes[-1].output[0] = result
        graph = helper.make_graph(self.nodes, "growth", [value("x")], [value(result)], list(self.constants.values()))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8), path)


def linear(w, name, x, rows, columns, gain=1.0):
    product = w.node("MatMul", [x, w.weight(name + ".w", (rows, columns), gain / np.sqrt(rows))], name + ".product")
    return w.node("Add", [product, w.weight(name + ".b", columns, 0.1)], name)


def layer_norm(w, name, x):
    return w.node("LayerNormalization", [x, w.weight(name + ".scale", WIDTH, 0.1, 1.0), w.weight(name + ".shift", WIDTH, 0.1)], name,
                  axis=-1, epsilon=1e-5)


def gelu(w, name, x):
    scalar = lambda v: w.constant(f"scalar_{v:.4f}", np.float32(v))
    erf = w.node("Erf", [w.node("Div", [x, scalar(np.sqrt(2))], name + ".scaled")], name + ".erf")
    return w.node("Mul", [w.node("Mul", [x, scalar(0.5)], name + ".half"), w.node("Add", [erf, scalar(1)], name + ".shifted")], name)


def attention(w, name, x, gain):
    head = WIDTH // HEADS
    ints = lambda *values: w.constant("ints_" + "_".join(map(str, values)), np.array(values, np.int64))
    parts = w.node("Split", [linear(w, name + ".qkv", x, WIDTH, 3 * WIDTH), ints(WIDTH, WIDTH, WIDTH)], name + ".split", outputs=3, axis=2)

    def heads(part, label, perm):
        split = w.node("Reshape", [part, ints(1, TOKENS, HEADS, head)], f"{name}.{label}.heads")
        return w.node("Transpose", [split], f"{name}.{label}", perm=perm)

    q, k, v = heads(parts[0], "q", [0, 2, 1, 3]), heads(parts[1], "k", [0, 2, 3, 1]), heads(parts[2], "v", [0, 2, 1, 3])
    scores = w.node("Div", [w.node("MatMul", [q, k], name + ".qk"), w.constant("root", np.float32(np.sqrt(head)))], name + ".scores")
    mask = w.constant("causal", np.tril(np.ones((1, 1, TOKENS, TOKENS), bool)))
    masked = w.node("Where", [mask, scores, w.constant("never", np.float32(np.finfo(np.float32).min))], name + ".masked")
    mixed = w.node("MatMul", [w.node("Softmax", [masked], name + ".softmax", axis=-1), v], name + ".mixed")
    joined = w.node("Reshape", [w.node("Transpose", [mixed], name + ".back", perm=[0, 2, 1, 3]), ints(1, TOKENS, WIDTH)], name + ".joined")
    return linear(w, name + ".out", joined, WIDTH, WIDTH, gain)


def decoder(path, layers):
    """As GPT-2's blocks, without the vocabulary at either end: nothing in it but the layers."""
    w, x = Writer(layers), "x"
    gain = 1 / np.sqrt(2 * layers)
    for i in range(layers):
        name = f"h.{i}"
        x = w.node("Add", [x, attention(w, name + ".attn", layer_norm(w, name + ".ln_1", x), gain)], name + ".residual_1")
        hidden = gelu(w, name + ".gelu", linear(w, name + ".up", layer_norm(w, name + ".ln_2", x), WIDTH, 4 * WIDTH))
        x = w.node("Add", [x, linear(w, name + ".down", hidden, 4 * WIDTH, WIDTH, gain)], name + ".residual_2")
    w.save(path, [1, TOKENS, WIDTH], "y")


def chain(path, steps):
    """MatMul, Abs, Add in turn on 8 x 8: what is left of such a step is the cost of having one.

    The matrices are rotations, and Abs loses nothing but signs: what goes in still shows in what comes out of the last step."""
    w, x = Writer(steps), "x"
    for i in range(steps):
        name = f"step_{i}"
        if i % 3 == 0:
            rotation = np.linalg.qr(w.rng.standard_normal((TINY, TINY)))[0].astype(np.float32)
            x = w.node("MatMul", [x, w.constant(name + ".w", rotation)], name)
        elif i % 3 == 1:
            x = w.node("Abs", [x], name)
        else:
            x = w.node("Add", [x, w.weight(name + ".b", (TINY, TINY), 0.1)], name)
    w.save(path, [TINY, TINY], "y")
