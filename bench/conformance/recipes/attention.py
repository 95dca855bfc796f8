"""Attention and rotary positions."""
import numpy as np

from cases import element_type
from recipes import recipe


@recipe("Attention")
def attention(d):
    batch, kv_heads, group = d.integer(1, 2), d.integer(1, 2), d.one(1, 1, 2)
    q_heads = kv_heads * group
    size, v_size = d.one(2, 4, 8), d.one(2, 4, 8)
    q_length, kv_length, past = d.integer(1, 5), d.integer(1, 5), d.one(0, 0, 2, 3)
    dtype = d.type()
    flat = d.flag()

    def heads(count, length, width):
        return [batch, length, count * width] if flat else [batch, count, length, width]
    inputs = [d.values(heads(q_heads, q_length, size), dtype), d.values(heads(kv_heads, kv_length, size), dtype),
              d.values(heads(kv_heads, kv_length, v_size), dtype)]
    attributes = d.some(is_causal=[0, 1], scale=[0.5, 0.125, 1.0], softcap=[0.0, 2.0], qk_matmul_output_mode=[0, 1, 2, 3],
                        softmax_precision=[int(element_type(np.float32))])
    if flat:
        attributes |= {"q_num_heads": q_heads, "kv_num_heads": kv_heads}
    total = kv_length + past
    mask = None
    if d.flag():
        shape = d.one([q_length, total], [1, total], [batch, 1, q_length, total], [batch, q_heads, q_length, total], [1, 1, q_length, total])
        mask = d.rng.random(shape) < 0.7 if d.flag() else d.values(shape, dtype)
        if mask.dtype == bool:
            mask[..., 0] = True  # a row of nothing but masked elements has no softmax
    pasts = [d.values([batch, kv_heads, past, size], dtype), d.values([batch, kv_heads, past, v_size], dtype)] if past else [None, None]
    presents = bool(past) or d.flag(0.3)
    scores = d.flag(0.3)
    if not scores:
        attributes.pop("qk_matmul_output_mode", 0)
    return d.case(inputs + [mask] + pasts, attributes, [True, presents, presents, scores])


@recipe("RotaryEmbedding")
def rotary_embedding(d):
    batch, heads, length, size = d.integer(1, 2), d.integer(1, 3), d.integer(1, 4), d.one(2, 4, 8)
    flat = d.flag()
    attributes = d.some(interleaved=[0, 1])
    rotated = size
    if d.flag(0.3) and size > 2:
        rotated = attributes["rotary_embedding_dim"] = size // 2
    if flat:
        attributes["num_heads"] = heads
    dtype = d.type()
    x = d.values([batch, length, heads * size] if flat else [batch, heads, length, size], dtype)
    if d.flag():
        table = d.integer(length, 8)
        angles = d.rng.uniform(-3, 3, [table, rotated // 2])
        positions = [d.maybe_fixed(d.rng.integers(0, table, [batch, length]).astype(np.int64))]
    else:
        angles, positions = d.rng.uniform(-3, 3, [batch, length, rotated // 2]), []
    tables = [d.maybe_fixed(f(angles).astype(dtype), 0.5) for f in (np.cos, np.sin)]
    return d.case([x] + tables + positions, attributes)


@recipe("com.microsoft.RotaryEmbedding")
def rotary_embedding_of_onnxruntime(d):
    batch, heads, length, size = d.integer(1, 2), d.integer(1, 3), d.integer(1, 4), d.one(4, 8)
    table = d.integer(length, 8)
    angles = d.rng.uniform(-3, 3, [table, size // 2])
    flat = d.flag()
    x = d.values([batch, length, heads * size] if flat else [batch, heads, length, size])
    positions = np.asarray([d.integer(0, table - length)], np.int64) if d.flag() else d.rng.integers(0, table, [batch, length]).astype(np.int64)
    tables = [d.maybe_fixed(f(angles).astype(np.float32), 0.8) for f in (np.cos, np.sin)]
    return d.case([x, d.maybe_fixed(positions, 0.4)] + tables, d.some(interleaved=[0, 1]) | ({"num_heads": heads} if flat and d.flag(0.5) else {}))
