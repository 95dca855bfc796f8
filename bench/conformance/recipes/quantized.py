"""Numbers in few bits that stand for floats, in the standard's operators and in ONNX Runtime's own."""
import numpy as np

from cases import Fixed, element_type
from recipes import recipe
from recipes.products import channels, window

BYTES = (np.uint8, np.int8)


def integers(d, shape, dtype):
    info = np.iinfo(dtype)
    return d.rng.integers(info.min, info.max + 1, shape).astype(dtype)


def weights(d, shape, dtype):
    """Such that two products in 16 bits never overflow: older processors add them up so."""
    low, high = (96, 160) if dtype == np.uint8 else (-32, 32)
    return d.rng.integers(low, high, shape).astype(dtype)


def scale(d, shape=(), dtype=np.float32):
    return d.maybe_fixed(np.asarray(d.rng.uniform(0.005, 0.2, shape), dtype), 0.5)


def zero(d, dtype, shape=()):
    return d.maybe_fixed(np.asarray(integers(d, shape, dtype) // 4, dtype), 0.5)


def quantized(d, shape, dtype):
    """A tensor, its scale and its zero point."""
    return [integers(d, shape, dtype), scale(d), zero(d, dtype)]


def granularity(d, shape, version):
    """The shape of scales over a tensor, and the attributes that say so."""
    kinds = ["tensor"] + (["axis"] if version >= 13 and shape else []) + (["block"] if version >= 21 and shape else [])
    kind = d.one(*kinds)
    if kind == "tensor":
        return [], {}
    axis = d.axis(len(shape))
    if kind == "axis":
        return [shape[axis]], {"axis": axis}
    block = d.integer(1, 3)
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block)
    return blocks, {"axis": axis, "block_size": block}


def stored_types(d, i):
    return [t for t in d.types(i) if np.dtype(t).kind in "iu" and np.dtype(t).itemsize <= 2] or list(BYTES)


@recipe("QuantizeLinear", "com.microsoft.QuantizeLinear")
def quantize(d):
    shape = d.shape(0, 3)
    scales, attributes = granularity(d, shape, 1 if d.domain else d.version)
    if "axis" in attributes and attributes["axis"] == 1 and d.flag():
        attributes.pop("axis")
    stored = d.one(*BYTES) if d.domain else d.one(*stored_types(d, 2))
    dtype = np.float16 if not d.domain and d.version >= 19 and d.flag(0.2) else np.float32
    zeros = [zero(d, stored, scales)] if d.domain or d.flag(0.8) else []
    if d.version >= 21 and not d.domain and d.flag(0.3):
        attributes["output_dtype"] = int(element_type(stored))
    return d.case([d.values(shape, dtype), scale(d, scales, dtype)] + zeros, attributes)


@recipe("DequantizeLinear", "com.microsoft.DequantizeLinear")
def dequantize(d):
    shape = d.shape(0, 3)
    scales, attributes = granularity(d, shape, 1 if d.domain else d.version)
    stored = d.one(*BYTES) if d.domain else d.one(np.int32, *stored_types(d, 0))
    absent = not d.domain and (stored == np.int32 or d.flag(0.2))
    dtype = np.float16 if not d.domain and d.version >= 19 and stored != np.int32 and d.flag(0.2) else np.float32
    if d.version >= 23 and not d.domain and d.flag(0.3):
        attributes["output_dtype"] = int(element_type(d.one(np.float32, np.float16)))
    return d.case([d.maybe_fixed(integers(d, shape, stored)), scale(d, scales, dtype)] + ([] if absent else [zero(d, stored, scales)]), attributes)


@recipe("DynamicQuantizeLinear")
def dynamic_quantize(d):
    return d.case([d.values(d.shape(0, 3, 0) or [1])], outputs=3)


def matrices(d):
    m, k, n = (d.one(1, 2, 3, 5, 16) for _ in range(3))
    batch = d.one([], [], [2], [2, 3])
    return batch + [m, k], [k, n]


@recipe("MatMulInteger")
def matmul_integer(d):
    a, b = matrices(d)
    types = d.one(*BYTES), d.one(*BYTES)
    columns = [b[-1]] if d.flag(0.3) else []
    zeros = [zero(d, types[0]), zero(d, types[1], columns)][:d.integer(0, 2)]
    return d.case([integers(d, a, types[0]), d.maybe_fixed(weights(d, b, types[1]), 0.7)] + zeros)


@recipe("QLinearMatMul")
def qlinear_matmul(d):
    a, b = matrices(d)
    dtype = d.one(*BYTES)
    columns = [b[-1]] if d.flag(0.3) else []
    right = [d.maybe_fixed(weights(d, b, dtype), 0.7), scale(d, columns), zero(d, dtype, columns)]
    return d.case([integers(d, a, dtype), scale(d), zero(d, dtype)] + right + [scale(d), zero(d, dtype)])


def convolved(d):
    spatial = d.one(1, 2, 2)
    group, c_in, c_out = channels(d)
    kernel = [d.integer(1, 3) for _ in range(spatial)]
    attributes = window(d, spatial, kernel)
    reach = [(k - 1) * r + 1 for k, r in zip(kernel, attributes.get("dilations", [1] * spatial))]
    image = [d.integer(1, 2), c_in] + [n + d.integer(0, 4) for n in reach]
    return image, [c_out, c_in // group] + kernel, attributes | ({"group": group} if group > 1 else {}) | ({"kernel_shape": kernel} if d.flag() else {})


@recipe("ConvInteger")
def conv_integer(d):
    image, filters, attributes = convolved(d)
    types = d.one(*BYTES), d.one(*BYTES)
    channels_ = [filters[0]] if d.flag(0.3) else []
    zeros = [zero(d, types[0]), zero(d, types[1], channels_)][:d.integer(0, 2)]
    return d.case([integers(d, image, types[0]), d.maybe_fixed(weights(d, filters, types[1]), 0.8)] + zeros, attributes)


@recipe("QLinearConv")
def qlinear_conv(d):
    image, filters, attributes = convolved(d)
    signed = d.one(*BYTES)
    # Of one spatial dimension onnx.reference gives several scales a dimension too many.
    per_channel = [filters[0]] if signed == np.int8 and len(filters) == 4 and d.flag() else []
    zeros = Fixed(np.zeros(per_channel, np.int8)) if per_channel else Fixed(np.asarray(3, signed))
    right = [Fixed(weights(d, filters, signed)), Fixed(np.asarray(d.rng.uniform(0.005, 0.2, per_channel), np.float32)), zeros]
    bias = [Fixed(d.rng.integers(-500, 500, filters[0]).astype(np.int32))] if d.flag() else []
    dtype = np.int8 if signed == np.int8 and d.flag(0.3) else np.uint8  # ONNX Runtime has no products of signed with unsigned filters
    return d.case(quantized(d, image, dtype) + right + [scale(d), zero(d, dtype)] + bias, attributes)


@recipe("com.microsoft.QLinearAdd", "com.microsoft.QLinearMul")
def qlinear_pair(d):
    a, b = d.broadcast(2, 1, 4)
    dtype = d.one(*BYTES)
    return d.case(quantized(d, a, dtype) + quantized(d, b, dtype) + [scale(d), zero(d, dtype)])


@recipe("com.microsoft.QLinearSigmoid", "com.microsoft.QLinearLeakyRelu")
def qlinear_function(d):
    dtype = d.one(*BYTES)
    attributes = d.some(alpha=[0.01, 0.25]) if d.op == "QLinearLeakyRelu" else {}
    return d.case(quantized(d, d.shape(1, 3, 0), dtype) + [Fixed(np.float32(1 / 64)), Fixed(np.asarray(7, dtype))], attributes)


@recipe("com.microsoft.QLinearSoftmax")
def qlinear_softmax(d):
    dtype = d.one(*BYTES)
    given = [integers(d, d.shape(1, 3, 0), dtype), Fixed(np.float32(d.rng.uniform(0.01, 0.05))), Fixed(np.asarray(5, dtype))]
    return d.case(given + [Fixed(np.float32(1 / 256)), Fixed(np.asarray(0 if dtype == np.uint8 else -128, dtype))], {"opset": 13, "axis": -1})


@recipe("com.microsoft.QLinearAveragePool")
def qlinear_average_pool(d):
    kernel = [d.integer(1, 3) for _ in range(2)]
    attributes = d.some(strides=[[1, 2], [2, 1]], count_include_pad=[0, 1], ceil_mode=[0]) | {"kernel_shape": kernel}
    if d.flag():
        attributes["pads"] = [d.integer(0, k - 1) for k in kernel] * 2
    dtype = d.one(*BYTES)
    last = d.flag(0.4)
    image = [d.integer(1, 2), d.integer(1, 3), kernel[0] + d.integer(1, 4), kernel[1] + d.integer(1, 4)]
    if last:
        image, attributes["channels_last"] = [image[0], image[2], image[3], image[1]], 1
    return d.case(quantized(d, image, dtype) + [scale(d), zero(d, dtype)], attributes)


@recipe("com.microsoft.QLinearGlobalAveragePool")
def qlinear_global_average_pool(d):
    dtype = d.one(*BYTES)
    return d.case(quantized(d, d.dims(4), dtype) + [scale(d), zero(d, dtype)], {"channels_last": d.integer(0, 1)})


@recipe("com.microsoft.QLinearConcat")
def qlinear_concat(d):
    shape, dtype = d.dims(d.integer(1, 3)), d.one(*BYTES)
    axis = d.axis(len(shape))
    inputs = [Fixed(np.float32(d.rng.uniform(0.01, 0.2))), Fixed(np.asarray(9, dtype))]
    for _ in range(d.integer(1, 3)):
        part = list(shape)
        part[axis] = d.integer(1, 3)
        inputs += [integers(d, part, dtype), Fixed(np.float32(d.rng.uniform(0.01, 0.2))), Fixed(np.asarray(4, dtype))]
    return d.case(inputs, {"axis": axis})


@recipe("com.microsoft.QGemm")
def qgemm(d):
    m, k, n = (d.one(1, 2, 3, 5, 16) for _ in range(3))
    attributes = d.some(transA=[0, 1], transB=[0, 1], alpha=[1.0, 0.5])
    dtype = d.one(*BYTES)
    a = quantized(d, [k, m] if attributes.get("transA") else [m, k], np.uint8)
    b = [Fixed(weights(d, [n, k] if attributes.get("transB") else [k, n], dtype)), scale(d), zero(d, dtype)]
    c = [Fixed(d.rng.integers(-500, 500, [n]).astype(np.int32))] if d.flag() else [None]
    return d.case(a + b + c + ([scale(d), zero(d, np.uint8)] if d.flag() else []), attributes)


@recipe("com.microsoft.DynamicQuantizeMatMul")
def dynamic_quantize_matmul(d):
    a, b = matrices(d)
    dtype = d.one(*BYTES)
    columns = [b[1]] if d.flag() else []
    zeros = [Fixed(np.zeros(columns, dtype))] if d.flag() else [None]
    bias = [d.values([b[1]])] if d.flag() else []
    return d.case([d.values(a), Fixed(weights(d, b, dtype)), Fixed(np.asarray(d.rng.uniform(0.005, 0.2, columns), np.float32))] + zeros + bias)


@recipe("com.microsoft.MatMulIntegerToFloat")
def matmul_integer_to_float(d):
    a, b = matrices(d)
    dtype = d.one(*BYTES)
    columns = [b[1]] if d.flag() else []
    zeros = [zero(d, np.uint8), Fixed(np.zeros(columns, dtype))] if d.flag() else [None, None]
    bias = [d.values([b[1]])] if d.flag() else []
    return d.case([integers(d, a, np.uint8), Fixed(weights(d, b, dtype)), scale(d), Fixed(np.asarray(d.rng.uniform(0.005, 0.2, columns), np.float32))]
                  + zeros + bias)


@recipe("com.microsoft.MatMulNBits")
def matmul_nbits(d):
    n, block, bits = d.integer(1, 5), d.one(16, 16, 32, 64), d.one(2, 4, 4, 8)
    k = d.one(16, 32, 40, 100)
    blocks = -(-k // block)
    packed = integers(d, [n, blocks, block * bits // 8], np.uint8)
    zeros = [Fixed(integers(d, [n, -(-blocks * bits // 8)], np.uint8)) if d.flag() else None]
    bias = [None, d.values([n])] if d.flag(0.3) else []
    scales = Fixed(np.asarray(d.rng.uniform(0.01, 0.2, d.one([n, blocks], [n * blocks])), np.float32))
    outer = d.one([], [2])
    return d.case([d.values(outer + [d.integer(1, 3), k]), Fixed(packed), scales] + zeros + bias,
                  {"N": n, "K": k, "bits": bits, "block_size": block} | d.some(accuracy_level=[0, 1]))


@recipe("com.microsoft.GatherBlockQuantized")
def gather_block_quantized(d):
    rows, block, bits = d.integer(2, 5), 16, d.one(4, 8)
    columns = block * d.integer(1, 2)
    table = Fixed(integers(d, [rows, columns * bits // 8], np.uint8))
    indices = d.rng.integers(0, rows, d.shape(1, 2, 0)).astype(d.one(np.int64, np.int32))
    scales = Fixed(np.asarray(d.rng.uniform(0.01, 0.2, [rows, columns // block]), np.float32))
    zeros = [Fixed(integers(d, [rows, -(-columns // block * bits // 8)], np.uint8))] if d.flag() and (bits == 8 or columns // block % 2 == 0) else []
    return d.case([table, indices, scales] + zeros, {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1})


@recipe("com.microsoft.DynamicQuantizeLSTM")
def dynamic_quantize_lstm(d):
    length, batch, size, hidden = d.integer(1, 4), d.integer(1, 2), d.integer(1, 4), d.integer(1, 4)
    direction = d.one("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    dtype = d.one(*BYTES)

    def scaled(*shape):
        return [Fixed(weights(d, shape, dtype)), Fixed(np.asarray(d.rng.uniform(0.005, 0.05, [ways]), np.float32)),
                Fixed(np.full([ways], 128 if dtype == np.uint8 else 0, dtype))]
    w, w_scale, w_zero = scaled(ways, size, 4 * hidden)
    r, r_scale, r_zero = scaled(ways, hidden, 4 * hidden)
    bias = Fixed(d.values([ways, 8 * hidden])) if d.flag() else None
    start = [d.values([ways, batch, hidden]), d.values([ways, batch, hidden])] if d.flag() else [None, None]
    return d.case([d.values([length, batch, size]), w, r, bias, None] + start + [None, w_scale, w_zero, r_scale, r_zero],
                  {"hidden_size": hidden, "direction": direction}, 3)
