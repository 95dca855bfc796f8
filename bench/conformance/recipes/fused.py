"""What ONNX Runtime's optimizer makes of several nodes of the standard."""
import numpy as np

from cases import Fixed
from recipes import recipe
from recipes.products import channels, window


@recipe("com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul")
def fused_matmul(d):
    m, k, n = (d.one(1, 2, 3, 5, 16) for _ in range(3))
    attributes = d.some(alpha=[1.0, 0.5, -2.0], transA=[0, 1], transB=[0, 1])
    batch = d.one([], [2], [2, 3])

    def side(rows, columns, letter):  # the older name knows nothing of batches
        shape = [columns, rows] if attributes.get("trans" + letter) else [rows, columns]
        if batch and d.op == "FusedMatMul" and d.flag(0.3):
            attributes["transBatch" + letter] = 1
            return [shape[0]] + batch + [shape[1]]
        return batch + shape
    a, b = side(m, k, "A"), side(k, n, "B")
    return d.case([d.floats(a), d.floats(b)], attributes)


ACTIVATIONS = [("Relu", []), ("Sigmoid", []), ("Tanh", []), ("LeakyRelu", [0.2]), ("Clip", [-1.0, 2.0]), ("HardSigmoid", [0.3, 0.4])]


@recipe("com.microsoft.FusedGemm")
def fused_gemm(d):
    m, k, n = (d.one(1, 2, 3, 5, 16) for _ in range(3))
    attributes = d.some(alpha=[1.0, 0.5], beta=[1.0, 0.25], transA=[0, 1], transB=[0, 1])
    name, parameters = ACTIVATIONS[d.one(0, 1, 2, 3)]
    attributes["activation"] = name
    if parameters:
        attributes["activation_alpha"] = parameters[0]
    a = [k, m] if attributes.get("transA") else [m, k]
    b = [n, k] if attributes.get("transB") else [k, n]
    return d.case([d.floats(a), d.floats(b)] + ([d.floats(d.one([m, n], [n], [1, n]))] if d.flag(0.7) else []), attributes)


@recipe("com.microsoft.FusedConv")
def fused_conv(d):
    spatial = d.one(1, 2, 2)
    group, c_in, c_out = channels(d)
    kernel = [d.integer(1, 3) for _ in range(spatial)]
    image = [k + d.integer(0, 4) for k in kernel]
    attributes = d.some(strides=[[d.integer(1, 2)] * spatial]) | {"group": group, "kernel_shape": kernel, "pads": [k // 2 for k in kernel] * 2}
    name, parameters = d.one(*ACTIVATIONS)
    attributes["activation"] = name
    if parameters:
        attributes["activation_params"] = parameters
    strides = attributes.get("strides", [1] * spatial)
    out = [(n + 2 * (k // 2) - k) // s + 1 for n, k, s in zip(image, kernel, strides)]
    batch = d.integer(1, 2)
    bias = [d.floats([c_out])] if d.flag() else [None]
    added = [d.values([batch, c_out] + out)] if d.flag(0.4) else []
    return d.case([d.values([batch, c_in] + image), d.floats([c_out, c_in // group] + kernel)] + bias + added, attributes)


@recipe("com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization")
def skip_layer_normalization(d):
    batch, length, size = d.integer(1, 3), d.integer(1, 4), d.one(2, 3, 8)
    x = [batch, length, size]
    skip = d.one(x, x, [1, length, size], [length, size])
    simplified = "Simplified" in d.op
    beta = [] if simplified else [d.floats([size])] if d.flag(0.7) else [None]
    bias = [d.floats([size])] if d.flag() else []
    sum_wanted = d.flag()
    return d.case([d.values(x), d.values(skip), d.floats([size])] + beta + bias, d.some(epsilon=[1e-5, 1e-3]),
                  [True, False, False, True] if sum_wanted else [True])


@recipe("com.microsoft.EmbedLayerNormalization")
def embed_layer_normalization(d):
    batch, length, size, words = d.integer(1, 3), d.integer(1, 4), d.one(4, 8), d.integer(2, 6)

    def ids(count):
        return d.rng.integers(0, count, [batch, length]).astype(np.int32)
    segments = d.flag()
    tables = [d.floats([words, size]), d.floats([length + 2, size]), d.floats([2, size]) if segments else None]
    mask = np.asarray(np.arange(length)[None] < d.rng.integers(1, length + 1, [batch, 1]), np.int32) if d.flag() else None
    positions = [ids(length + 2)] if d.flag(0.3) else []
    inputs = [ids(words), ids(2) if segments else None] + tables + [d.floats([size]), d.floats([size]), mask] + positions
    return d.case(inputs, d.some(epsilon=[1e-5]) | ({"mask_index_type": 1} if mask is not None else {}), [True, True] + ([True] if d.flag(0.3) else []))


def padding(d, batch, queries, keys):
    """A mask in one of its forms, where at least one key is seen."""
    ends = d.rng.integers(1, keys + 1, [batch]).astype(np.int32)
    flags = d.rng.random([batch, keys]) < 0.7
    flags[:, 0] = True
    cube = d.rng.random([batch, queries, keys]) < 0.7
    cube[..., 0] = True
    return d.one(None, ends, np.concatenate([ends, np.zeros_like(ends)]), flags.astype(np.int32), cube.astype(np.int32))


def of_heads(d):
    return d.integer(1, 2), d.integer(1, 3), d.integer(1, 4), d.one(2, 4, 8)


@recipe("com.microsoft.Attention")
def attention(d):
    batch, heads, length, size = of_heads(d)
    width, hidden = d.one(3, 8), heads * size
    past = d.one(0, 0, 2)
    attributes = {"num_heads": heads} | d.some(unidirectional=[0, 1], scale=[0.5], mask_filter_value=[-10000.0, -1000.0])
    v_hidden = hidden
    if not past and d.flag(0.3):
        v_hidden = heads * d.one(2, 4)
        attributes["qkv_hidden_sizes"] = [hidden, hidden, v_hidden]
    total = 2 * hidden + v_hidden
    inputs = [d.values([batch, length, width]), Fixed(d.values([width, total])), Fixed(d.values([total])), padding(d, batch, length, length + past)]
    inputs += [d.values([2, batch, heads, past, size])] if past else [None]
    inputs += [d.values(d.one([batch, heads, length, length + past], [1, heads, length, length + past]))] if d.flag(0.3) else []
    return d.case(inputs, attributes, [True, True] if past or (v_hidden == hidden and d.flag(0.3)) else [True])


@recipe("com.microsoft.QAttention")
def qattention(d):
    batch, heads, length, size = of_heads(d)
    width, hidden = d.one(3, 8), heads * size
    past = d.one(0, 0, 2)
    weight = d.one(np.uint8, np.int8)
    low, high = (96, 160) if weight == np.uint8 else (-32, 32)
    inputs = [d.rng.integers(0, 256, [batch, length, width]).astype(np.uint8), Fixed(d.rng.integers(low, high, [width, 3 * hidden]).astype(weight)),
              Fixed(d.values([3 * hidden])), Fixed(np.float32(0.02)), Fixed(np.float32(0.01)), d.one(None, np.full([batch], length + past, np.int32)),
              Fixed(np.uint8(d.integer(0, 200))), Fixed(np.asarray(128 if weight == np.uint8 else 0, weight))]
    inputs += [d.values([2, batch, heads, past, size])] if past else []
    return d.case(inputs, {"num_heads": heads} | d.some(unidirectional=[0, 1]), [True, True] if past else [True])


@recipe("com.microsoft.MultiHeadAttention")
def multi_head_attention(d):
    batch, heads, length, size = of_heads(d)
    hidden, past = heads * size, d.one(0, 0, 2)
    form = d.one("separate", "separate", "packed", "packed pairs", "apart") if not past else "separate"
    keys = length if form == "packed" or past else d.integer(1, 5)
    if form == "packed":
        inputs = [d.values([batch, length, heads, 3, size]), None, None]
    elif form == "packed pairs":
        inputs = [d.values([batch, length, hidden]), d.values([batch, keys, heads, 2, size]), None]
    elif form == "apart":
        inputs = [d.values([batch, length, hidden]), d.values([batch, heads, keys, size]), d.values([batch, heads, keys, size])]
    else:
        inputs = [d.values([batch, length, hidden]), d.values([batch, keys, hidden]), d.values([batch, keys, hidden])]
    total = keys + past
    mask = padding(d, batch, length, total)
    mask = mask if mask is not None and mask.shape != (2 * batch,) else None
    inputs += [d.floats([3 * hidden]) if form == "separate" and d.flag() else None, mask]
    inputs += [d.values([batch, heads, length, total]) if d.flag(0.3) else None]
    inputs += [d.values([batch, heads, past, size]) for _ in range(2)] if past else []
    return d.case(inputs, {"num_heads": heads} | d.some(scale=[0.5], unidirectional=[0] if form != "separate" or keys != length else [0, 1]),
                  [True, True, True] if past else [True])


@recipe("com.microsoft.GroupQueryAttention")
def group_query_attention(d):
    batch, kv_heads, group, size = d.integer(1, 2), d.integer(1, 2), d.one(1, 2), d.one(16, 32)
    heads = kv_heads * group
    form = d.one("prompt", "behind", "step", "into")
    length = d.integer(1, 4) if form in ("prompt", "behind") else 1
    past = 0 if form == "prompt" else d.integer(1, 4)
    if form == "into":  # a cache with room in it
        past += 2
        held = d.rng.integers(0, past - 1, [batch])
    else:
        held = np.full([batch], past)
    if form == "behind":
        batch, held = 1, held[:1]
    total = int(max(held)) + length
    query = [batch, length, heads * size]
    apart = [d.values(query), d.values([batch, length, kv_heads * size]), d.values([batch, length, kv_heads * size])]
    packed = [d.values([batch, length, (heads + 2 * kv_heads) * size]), None, None]
    cache = [d.values([batch, kv_heads, past, size]) for _ in range(2)] if past else [None, None]
    attributes = {"num_heads": heads, "kv_num_heads": kv_heads} | d.some(scale=[0.5], local_window_size=[-1, 1, 3], softcap=[0.0, 2.0])
    inputs = d.one(apart, packed) + cache + [d.maybe_fixed((held + length - 1).astype(np.int32), 0.5), Fixed(np.asarray([total], np.int32))]
    tables = [None, None]
    if d.flag():
        attributes |= {"do_rotary": 1} | d.some(rotary_interleaved=[0, 1])
        angles = d.rng.uniform(-3, 3, [12, size // 2])
        tables = [Fixed(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]
    sink = [None, None, d.values([heads])] if d.flag(0.2) else []
    if not sink and d.flag(0.1):
        attributes["smooth_softmax"] = 1
    return d.case(inputs + tables + sink, attributes, [True, True, True])


@recipe("com.microsoft.BiasAdd")
def bias_add(d):
    shape = [d.integer(1, 2), d.integer(1, 4), d.one(320, 640)] if d.flag(0.1) else [d.integer(1, 2), d.integer(1, 4), d.integer(1, 9)]
    return d.case([d.values(shape), d.floats([shape[-1]]), d.values(shape)])


@recipe("com.microsoft.BiasSplitGelu")
def bias_split_gelu(d):
    channels_ = 2 * d.integer(1, 9)
    return d.case([d.values([d.integer(1, 2), d.integer(1, 4), channels_]), d.floats([channels_])])


@recipe("com.microsoft.BiasSoftmax")
def bias_softmax(d):
    shape = d.dims(d.integer(2, 4))
    axis = d.integer(1, len(shape) - 1)
    inner = d.flag()
    bias = [shape[0]] + [1] * (axis - 1) + shape[axis:] if inner else [1] + shape[1:]
    return d.case([d.values(shape), d.values(bias)], {"axis": axis, "is_inner_broadcast": int(inner)})


@recipe("com.microsoft.ExpandDims")
def expand_dims(d):
    shape = d.shape(1, 3)
    return d.case([d.values(shape), Fixed(np.int32(d.axis(len(shape), 1)))])


@recipe("com.microsoft.Pad")
def pad(d):
    shape = d.dims(d.integer(1, 3))
    mode = d.one("constant", "edge", "reflect")
    pads = np.asarray([d.integer(0, n - 1 if mode == "reflect" else 2) for n in shape] * 2, np.int64)
    value = [Fixed(np.asarray([1.5], np.float32))] if mode == "constant" and d.flag() else []
    return d.case([d.values(shape), Fixed(d.one(pads, pads[None]))] + value, {"mode": mode})


@recipe("com.microsoft.Range")
def arange(d):
    dtype = d.one(np.float32, np.int32, np.int64)
    start, step = d.integer(-3, 3), d.one(1, 2)
    return d.case([Fixed(np.asarray(v, dtype)) for v in (start, start + d.integer(0, 6))] + ([Fixed(np.asarray(step, dtype))] if d.flag() else []))


@recipe("com.microsoft.Trilu")
def trilu(d):
    k = [Fixed(np.int64(d.integer(-2, 2)))] if d.flag() else []
    return d.case([d.values(d.dims(d.integer(2, 3)))] + k, d.some(upper=[0, 1]))


@recipe("com.microsoft.GatherND")
def gather_nd(d):
    shape = d.dims(d.integer(1, 3))
    depth = d.integer(1, len(shape))
    rows = d.integer(1, 4)
    return d.case([d.values(shape), np.stack([d.rng.integers(0, n, rows) for n in shape[:depth]], -1).astype(np.int64)])
