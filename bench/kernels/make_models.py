"""make_models.py FOLDER [NAME …]: one ONNX file a kernel, FOLDER/NAME/model.onnx; --list prints NAME, GFLOP, MB of operands.

Products have a constant B, as layers do; the other operators are written as exporters write them, in several nodes where ONNX has
none of its own."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Kernel:
    """A graph of a few nodes: inputs are random, one output."""

    def __init__(self):
        self.nodes, self.inputs, self.constants = [], [], []
        self.random = np.random.default_rng(11)  # of its own: the same numbers whichever kernels are made

    def input(self, shape, kind=TensorProto.FLOAT, name=None):
        name = name or f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def weight(self, shape, deviation=1.0, mean=0.0):
        return self.constant((mean + deviation * self.random.standard_normal(shape)).astype(np.float32))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def save(self, path, result, shape):
        output = helper.make_tensor_value_info(result, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "kernel", self.inputs, [output], self.constants)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8), path)


def product(k, m, n, depth):
    return k.node("MatMul", k.input([m, depth]), k.weight([depth, n], 1 / np.sqrt(depth))), [m, n]


def causal_attention(k, heads, tokens, width):
    q, key, v = (k.input([1, heads, tokens, width]) for _ in range(3))
    scores = k.node("Div", k.node("MatMul", q, k.node("Transpose", key, perm=[0, 1, 3, 2])), k.constant(np.float32(np.sqrt(width))))
    mask = k.constant(np.tril(np.ones((1, 1, tokens, tokens), bool)))
    masked = k.node("Where", mask, scores, k.constant(np.float32(np.finfo(np.float32).min)))
    return k.node("MatMul", k.node("Softmax", masked, axis=-1), v), [1, heads, tokens, width]


def tanh_gelu(k, rows, columns):
    x = k.input([rows, columns])
    scalar = lambda v: k.constant(np.float32(v))
    cube = k.node("Mul", k.node("Mul", k.node("Mul", x, x), x), scalar(0.044715))
    tanh = k.node("Tanh", k.node("Mul", k.node("Add", x, cube), scalar(np.sqrt(2 / np.pi))))
    return k.node("Mul", k.node("Mul", x, scalar(0.5)), k.node("Add", tanh, scalar(1))), [rows, columns]


def layer_norm(k, rows, columns):
    x = k.input([rows, columns])
    return k.node("LayerNormalization", x, k.weight([columns], 0.1, 1), k.weight([columns], 0.1), axis=-1, epsilon=1e-5), [rows, columns]


def rms_norm(k, rows, columns):
    x = k.input([rows, columns])
    mean = k.node("ReduceMean", k.node("Pow", x, k.constant(np.float32(2))), axes=[-1], keepdims=1)
    root = k.node("Sqrt", k.node("Add", mean, k.constant(np.float32(1e-6))))
    return k.node("Mul", k.node("Mul", x, k.node("Reciprocal", root)), k.weight([columns], 0.1, 1)), [rows, columns]


def rope(k, heads, tokens, width):
    x = k.input([1, heads, tokens, width])
    angle = np.outer(np.arange(tokens), 10000.0 ** (-np.arange(0, width, 2) / width))
    both = np.concatenate([angle, angle], axis=1)[None, None].astype(np.float32)
    ints = lambda *v: k.constant(np.array(v, np.int64))
    left = k.node("Slice", x, ints(0), ints(width // 2), ints(3), ints(1))
    right = k.node("Slice", x, ints(width // 2), ints(width), ints(3), ints(1))
    turned = k.node("Concat", k.node("Neg", right), left, axis=3)
    return k.node("Add", k.node("Mul", x, k.constant(np.cos(both))), k.node("Mul", turned, k.constant(np.sin(both)))), [1, heads, tokens, width]


def softmax(k, rows, columns):
    return k.node("Softmax", k.input([rows, columns]), axis=-1), [rows, columns]


def cross_entropy(k, rows, columns):
    return k.node("SoftmaxCrossEntropyLoss", k.input([rows, columns]), k.constant(k.random.integers(0, columns, rows).astype(np.int64)), reduction="mean"), []


def lstm(k, steps, batch, size, hidden):
    x = k.input([steps, batch, size])
    w, r, b = (k.weight([1, *shape], 1 / np.sqrt(hidden)) for shape in ((4 * hidden, size), (4 * hidden, hidden), (8 * hidden,)))
    return k.node("LSTM", x, w, r, b, hidden_size=hidden), [steps, 1, batch, hidden]


def reduce_all(k, rows, columns):
    return k.node("ReduceSum", k.input([rows, columns], name="bits"), keepdims=0), []


# Name: what makes it, its sizes, operations or 0 where bytes count, elements read and written.
KERNELS = {}
for m, n, depth in [(1024, 1024, 1024), (2048, 2048, 2048), (128, 768, 768), (128, 3072, 768), (128, 768, 3072), (512, 768, 3072),
                    (128, 50257, 768), (8, 4096, 4096), (1, 4096, 4096)]:
    KERNELS[f"gemm-{m}x{n}x{depth}"] = (product, (m, n, depth), 2 * m * n * depth, m * depth + depth * n + m * n)
KERNELS["causal-attention-12x512x64"] = (causal_attention, (12, 512, 64), 0, 4 * 12 * 512 * 64)
KERNELS["tanh-gelu-128x3072"] = (tanh_gelu, (128, 3072), 0, 2 * 128 * 3072)
KERNELS["layernorm-4096x768"] = (layer_norm, (4096, 768), 0, 2 * 4096 * 768)
KERNELS["rmsnorm-4096x4096"] = (rms_norm, (4096, 4096), 0, 2 * 4096 * 4096)
KERNELS["rope-32x512x64"] = (rope, (32, 512, 64), 0, 2 * 32 * 512 * 64)
KERNELS["softmax-4096x4096"] = (softmax, (4096, 4096), 0, 2 * 4096 * 4096)
KERNELS["softmax-1024x32768"] = (softmax, (1024, 32768), 0, 2 * 1024 * 32768)
KERNELS["cross-entropy-1024x32000"] = (cross_entropy, (1024, 32000), 0, 1024 * 32000)
KERNELS["lstm-80x1x256x256"] = (lstm, (80, 1, 256, 256), 2 * 80 * 4 * 256 * 512, 4 * 256 * 512 + 2 * 80 * 256)
KERNELS["reduce-all-4096x4096"] = (reduce_all, (4096, 4096), 0, 4096 * 4096)


def main():
    if sys.argv[1] == "--list":
        for name, (_, _, flops, elements) in KERNELS.items():
            print(name, flops / 1e9, 4 * elements / 1e6)
        return
    folder, names = sys.argv[1], sys.argv[2:] or list(KERNELS)
    for name in names:
        path = os.path.join(folder, name, "model.onnx")
        if os.path.exists(path):
            continue
        make, sizes, _, _ = KERNELS[name]
        kernel = Kernel()
        kernel.save(path, *make(kernel, *sizes))
        if name.startswith("reduce-all"):  # millions of them summed up: every order of summation of zeros and ones is exact below 2^24
            os.makedirs(os.path.join(folder, name, "inputs"), exist_ok=True)
            np.save(os.path.join(folder, name, "inputs", "bits.npy"), np.random.default_rng(5).integers(0, 2, sizes).astype(np.float32))


main()
