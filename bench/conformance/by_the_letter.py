"""Operators that onnx.reference gets wrong in part, once more: the standard's formulas word for word in NumPy's float64, element by element.

Slow and plain on purpose. Nothing here is taken from the program, and none of its authors' readings: where the text leaves something open, there
is no function.
"""
import itertools
import math

import numpy as np

from recurrences_by_the_letter import recurrence


def positions(shape):
    return itertools.product(*(range(n) for n in shape))


class Window:
    """What kernel_shape, strides, dilations, pads, auto_pad and ceil_mode say of the spatial dimensions of a pool."""

    def __init__(self, spatial, attributes):
        n = len(spatial)
        self.spatial = spatial
        self.kernel = attributes["kernel_shape"]
        self.strides = attributes.get("strides", [1] * n)
        self.dilations = attributes.get("dilations", [1] * n)
        self.reach = [(k - 1) * r + 1 for k, r in zip(self.kernel, self.dilations)]
        pads = attributes.get("pads", [0] * 2 * n)
        self.begin, self.end, self.out = pads[:n], pads[n:], []
        auto, ceil = attributes.get("auto_pad", "NOTSET"), attributes.get("ceil_mode", 0)
        if auto.startswith("SAME"):
            self.out = [math.ceil(i / s) for i, s in zip(spatial, self.strides)]
            total = [(o - 1) * s + k - i for o, s, k, i in zip(self.out, self.strides, self.reach, spatial)]
            small, large = [t // 2 for t in total], [t - t // 2 for t in total]
            self.begin, self.end = (small, large) if auto == "SAME_UPPER" else (large, small)
            self.open = any(t < 0 for t in total)  # the text does not say whether a padding may be negative
            return
        self.open = False
        if auto == "VALID":
            self.open = bool(ceil)  # the formula rounds down all the same; ONNX's own shape inference rounds up
            self.begin = self.end = [0] * n
            self.out = [math.ceil((i - k + 1) / s) for i, k, s in zip(spatial, self.reach, self.strides)]
            return
        for i, b, e, k, s in zip(spatial, self.begin, self.end, self.reach, self.strides):
            out = (math.ceil if ceil else math.floor)((i + b + e - k) / s + 1)
            if ceil and (out - 1) * s >= i + b:  # a window that would start in the padding at the end
                out -= 1
            self.out.append(out)

    def at(self, output, offset):
        return tuple(o * s - b + k * r for o, s, b, k, r in zip(output, self.strides, self.begin, offset, self.dilations))

    def is_inside(self, place):
        return all(0 <= p < n for p, n in zip(place, self.spatial))

    def is_padded(self, place):
        return all(-b <= p < n + e for p, n, b, e in zip(place, self.spatial, self.begin, self.end))

    def inside(self, output):
        return [p for p in (self.at(output, k) for k in positions(self.kernel)) if self.is_inside(p)]


def pool(case, of_window):
    x = case.array(0).astype(np.float64)
    window = Window(x.shape[2:], case.attributes)
    if window.open:
        return None
    out = np.zeros(x.shape[:2] + tuple(window.out))
    for o in positions(window.out):
        out[(..., *o)] = of_window(x, window, o)
    return [out]


def values(x, places):
    return np.stack([x[(..., *p)] for p in places])


def average_of(case):
    def of_window(x, window, output):
        counted = window.is_padded if case.attributes.get("count_include_pad") else window.is_inside
        count = sum(counted(window.at(output, k)) for k in positions(window.kernel))
        return values(x, window.inside(output)).sum(0) / count
    return of_window


def average_pool(case):
    return pool(case, average_of(case))


def lp_pool(case):
    p = case.attributes.get("p", 2)
    return pool(case, lambda x, window, o: (np.abs(values(x, window.inside(o))) ** p).sum(0) ** (1 / p))


def max_pool(case):
    x = case.array(0)
    out = pool(case, lambda x, window, o: values(x, window.inside(o)).max(0))
    if out is None or len(case.outputs) == 1:
        return out
    return out + [max_indices(x, Window(x.shape[2:], case.attributes), case.attributes.get("storage_order", 0))]


def max_indices(x, window, column_major):
    indices = np.zeros(x.shape[:2] + tuple(window.out), np.int64)
    strides = [math.prod(x.shape[2:2 + i]) if column_major else math.prod(x.shape[3 + i:]) for i in range(x.ndim - 2)]
    for n, c in positions(x.shape[:2]):
        for o in positions(window.out):
            best = max(window.inside(o), key=lambda p: x[(n, c, *p)])  # the first of equals
            indices[(n, c, *o)] = (n * x.shape[1] + c) * math.prod(x.shape[2:]) + sum(p * s for p, s in zip(best, strides))
    return indices


def global_pool(case):
    x = case.array(0).astype(np.float64)
    spatial = tuple(range(2, x.ndim))
    if case.op == "GlobalMaxPool":
        return [x.max(spatial, keepdims=True)]
    p = case.attributes.get("p", 2)
    return [(np.abs(x) ** p).sum(spatial, keepdims=True) ** (1 / p)]


def transposed_padding(case, spatial, kernel):
    """Begins and output sizes."""
    n, a = len(spatial), case.attributes
    strides, dilations = a.get("strides", [1] * n), a.get("dilations", [1] * n)
    full = [s * (i - 1) + e + (k - 1) * r + 1 for s, i, e, k, r in zip(strides, spatial, a.get("output_padding", [0] * n), kernel, dilations)]
    auto = a.get("auto_pad", "NOTSET")
    if "output_shape" not in a and not auto.startswith("SAME"):
        pads = a.get("pads", [0] * 2 * n)
        return pads[:n], [f - b - e for f, b, e in zip(full, pads[:n], pads[n:])]
    out = a.get("output_shape") or [i * s for i, s in zip(spatial, strides)]
    total = [f - o for f, o in zip(full, out)]
    if any(t < 0 and t % 2 for t in total):  # half of it: the text does not say in which direction that is rounded
        return None, out
    return [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in total], out


def conv_transpose(case):
    x, w = case.array(0).astype(np.float64), case.array(1).astype(np.float64)
    spatial, kernel, group = x.shape[2:], w.shape[2:], case.attributes.get("group", 1)
    n = len(spatial)
    strides, dilations = case.attributes.get("strides", [1] * n), case.attributes.get("dilations", [1] * n)
    begin, size = transposed_padding(case, spatial, kernel)
    if begin is None:
        return None
    per_in, per_out = x.shape[1] // group, w.shape[1]
    out = np.zeros((x.shape[0], group * per_out, *size))
    for i, k in itertools.product(positions(spatial), positions(kernel)):
        o = tuple(p * s + q * r - b for p, s, q, r, b in zip(i, strides, k, dilations, begin))
        if not all(0 <= p < m for p, m in zip(o, size)):
            continue
        for g in range(group):
            taken = slice(g * per_in, (g + 1) * per_in)
            out[(slice(None), slice(g * per_out, (g + 1) * per_out), *o)] += x[(slice(None), taken, *i)] @ w[(taken, slice(None), *k)]
    if len(case.inputs) > 2:
        out += case.array(2).astype(np.float64).reshape(-1, *[1] * n)
    return [out]


def lrn(case):
    x, a = case.array(0).astype(np.float64), case.attributes
    size, channels = a["size"], x.shape[1]
    squares = np.zeros_like(x)
    for c in range(channels):
        first, last = max(0, c - (size - 1) // 2), min(channels - 1, c + math.ceil((size - 1) / 2))
        squares[:, c] = (x[:, first:last + 1] ** 2).sum(1)
    alpha, beta, bias = (float(np.float32(a.get(name, default))) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    return [x / (bias + alpha / size * squares) ** beta]


def lp_normalization(case):
    x, axis = case.array(0).astype(np.float64), case.attributes.get("axis", -1)
    p = case.attributes.get("p", 2)
    norm = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return [np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm))]


def flat_softmax(case):
    """Until 12, over all dimensions from `axis` on as if they were one."""
    if case.opset >= 13:
        return None
    x = case.array(0).astype(np.float64)
    axis = case.attributes.get("axis", 1)
    rows = x.reshape(math.prod(x.shape[:axis % x.ndim if axis < 0 else axis]), -1)
    if rows.size == 0:
        return None
    if case.op == "Hardmax":
        return [(np.arange(rows.shape[1]) == rows.argmax(1)[:, None]).astype(np.float64).reshape(x.shape)]
    shifted = rows - rows.max(1, keepdims=True)
    logarithm = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return [(logarithm if case.op == "LogSoftmax" else np.exp(logarithm)).reshape(x.shape)]


def batch_normalization(case):
    """Test mode."""
    if case.attributes.get("training_mode"):
        return None
    x, scale, bias, mean, variance = (case.array(i).astype(np.float64) for i in range(5))
    by_channel = (-1,) + (1,) * (x.ndim - 2)
    epsilon = float(np.float32(case.attributes.get("epsilon", 1e-5)))
    scale, bias, mean, variance = (v.reshape(by_channel) for v in (scale, bias, mean, variance))
    return [(x - mean) / np.sqrt(variance + epsilon) * scale + bias]


def simplified_layer_normalization(case):
    x, scale, axis = case.array(0).astype(np.float64), case.array(1).astype(np.float64), case.attributes.get("axis", -1)
    axes = tuple(range(axis % x.ndim, x.ndim))
    inverse = 1 / np.sqrt((x ** 2).mean(axes, keepdims=True) + float(np.float32(case.attributes.get("epsilon", 1e-5))))
    return [x * inverse * scale, inverse][:len(case.outputs)]


def bias_add(case):
    return [sum(case.array(i).astype(np.float64) for i in range(3))]


def bias_split_gelu(case):
    left, right = np.split(case.array(0).astype(np.float64) + case.array(1), 2, axis=-1)
    return [left * right * 0.5 * (1 + np.vectorize(math.erf)(right / math.sqrt(2)))]


def bias_softmax(case):
    """Over all dimensions from `axis` on."""
    x = case.array(0).astype(np.float64) + case.array(1)
    rows = x.reshape(math.prod(x.shape[:case.attributes["axis"]]), -1)
    powers = np.exp(rows - rows.max(1, keepdims=True))
    return [(powers / powers.sum(1, keepdims=True)).reshape(x.shape)]


def lstm_of_one_way(x, w, r, bias, h, c):
    """Gates in the order i, o, f, c; weights stand upright: [inputs, gates]."""
    outputs = []
    for step in x:
        i, o, f, g = np.split(step @ w + h @ r + bias, 4, axis=-1)
        i, o, f = (1 / (1 + np.exp(-v)) for v in (i, o, f))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs), h, c


def dynamic_quantize_lstm(case):
    """With its weights as the floats that they stand for: inputs and states are not rounded."""
    x, direction = case.array(0).astype(np.float64), case.attributes["direction"]

    def floats(weights, scale, zero):
        wide = (-1, 1, 1)
        return (case.array(weights).astype(np.float64) - case.array(zero).astype(np.float64).reshape(wide)) * case.array(scale).astype(np.float64).reshape(wide)
    w, r = floats(1, 8, 9), floats(2, 10, 11)
    ways, hidden = w.shape[0], r.shape[1]
    both = case.array(3).astype(np.float64) if case.inputs[3] is not None else np.zeros([ways, 8 * hidden])
    h, c = ((case.array(i).astype(np.float64) if case.inputs[i] is not None else np.zeros([ways, x.shape[1], hidden])) for i in (5, 6))
    outputs = []
    for way in range(ways):
        back = direction == "reverse" or way == 1
        y, last_h, last_c = lstm_of_one_way(x[::-1] if back else x, w[way], r[way], both[way, :4 * hidden] + both[way, 4 * hidden:], h[way], c[way])
        outputs.append((y[::-1] if back else y, last_h, last_c))
    return [np.stack([o[0] for o in outputs], 1), np.stack([o[1] for o in outputs]), np.stack([o[2] for o in outputs])]


def clip(case):
    """Absent limits are the ends of the element type, since 11."""
    x = case.array(0)
    if case.opset < 11 or x.dtype.kind != "f":
        return None
    ends = np.finfo(x.dtype)
    given = [case.array(i) if len(case.inputs) > i and case.inputs[i] is not None else end for i, end in ((1, ends.min), (2, ends.max))]
    low, high = (np.asarray(v, np.float64) for v in given)
    return [np.minimum(np.maximum(x.astype(np.float64), low), high)]


def group_normalization(case):
    """Since 21 scale and bias are of channels, before of groups. Halves are rounded between its two stages: they are left out."""
    x, groups = case.array(0), case.attributes["num_groups"]
    if x.dtype == np.float16:
        return None
    rows = x.astype(np.float64).reshape(x.shape[0], groups, -1)
    centred = rows - rows.mean(2, keepdims=True)
    epsilon = float(np.float32(case.attributes.get("epsilon", 1e-5)))
    normal = (centred / np.sqrt((centred ** 2).mean(2, keepdims=True) + epsilon)).reshape(x.shape)
    repeats = 1 if case.opset >= 21 else x.shape[1] // groups
    scale, bias = (np.repeat(case.array(i).astype(np.float64), repeats).reshape(-1, *[1] * (x.ndim - 2)) for i in (1, 2))
    return [normal * scale + bias]


FUNCTIONS = {
    "AveragePool": average_pool, "BatchNormalization": batch_normalization, "BiasAdd": bias_add, "BiasSoftmax": bias_softmax,
    "BiasSplitGelu": bias_split_gelu, "Clip": clip, "ConvTranspose": conv_transpose, "DynamicQuantizeLSTM": dynamic_quantize_lstm,
    "GlobalLpPool": global_pool, "GlobalMaxPool": global_pool, "GroupNormalization": group_normalization, "GRU": recurrence, "Hardmax": flat_softmax,
    "LogSoftmax": flat_softmax, "LpNormalization": lp_normalization, "LpPool": lp_pool, "LRN": lrn, "LSTM": recurrence, "MaxPool": max_pool,
    "RNN": recurrence, "SimplifiedLayerNormalization": simplified_layer_normalization, "Softmax": flat_softmax}


def compute(case):
    """None where there is no function."""
    function = FUNCTIONS.get(case.op)
    outputs = function(case) if function else None
    if outputs is None:
        return None
    whole = case.array(0).dtype.kind in "iu"  # of a maximum
    return [o.astype(case.array(0).dtype) if whole and i == 0 else o for i, o in enumerate(outputs)]
