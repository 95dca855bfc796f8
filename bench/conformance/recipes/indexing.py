"""What chooses elements by index or by rank."""
import numpy as np

from cases import element_type
from recipes import recipe


def indices(d, shape, size, dtype=None):
    dtype = dtype or d.one(np.int64, np.int32)
    return np.asarray(d.rng.integers(-size if d.version >= 11 else 0, size, shape)).astype(dtype)


@recipe("Gather")
def gather(d):
    shape = d.shape(1, 4, 0.0)
    axis = d.axis(len(shape))
    attributes = {} if axis in (0, -len(shape)) and d.flag() else {"axis": axis}
    return d.case([d.floats(shape, d.type()), d.maybe_fixed(indices(d, d.shape(0, 3), shape[axis]))], attributes)


def along_axis(d):
    """A shape, an axis of it, and indices of the same rank that are no larger elsewhere."""
    shape = d.shape(1, 4, 0.0)
    axis = d.axis(len(shape))
    smaller = [d.integer(1, n) for n in shape]
    attributes = {} if axis in (0, -len(shape)) and d.flag() else {"axis": axis}
    return shape, axis, smaller, attributes


@recipe("GatherElements")
def gather_elements(d):
    shape, axis, smaller, attributes = along_axis(d)
    smaller[axis] = d.integer(1, 5)
    return d.case([d.values(shape, d.type()), d.maybe_fixed(indices(d, smaller, shape[axis]))], attributes)


def index_rows(d, shape, batch, depth, outer):
    rows = np.zeros(outer + [depth], np.int64)
    for k in range(depth):
        n = shape[batch + k]
        rows[..., k] = d.rng.integers(-n, n, outer)
    return rows


@recipe("GatherND")
def gather_nd(d):
    shape = d.shape(1, 4, 0.0)
    batch = d.integer(0, len(shape) - 1) if d.version >= 12 and d.flag() else 0
    depth = d.integer(1, len(shape) - batch)
    rows = index_rows(d, shape, batch, depth, shape[:batch] + d.dims(d.integer(0, 2)))
    return d.case([d.values(shape, d.type()), d.maybe_fixed(rows)], {"batch_dims": batch} if batch or (d.version >= 12 and d.flag(0.3)) else {})


def reductions(d):
    if d.version >= 18:
        return ["none", "add", "mul", "max", "min"]
    return ["none", "add", "mul"]


@recipe("ScatterElements", "Scatter")
def scatter_elements(d):
    shape, axis, smaller, attributes = along_axis(d)
    if d.version >= 16:
        attributes |= d.some(reduction=reductions(d))
    dtype = d.type()
    repeats = attributes.get("reduction", "none") != "none"
    smaller[axis] = d.integer(1, 5) if repeats else smaller[axis]
    n = shape[axis]
    where = indices(d, smaller, n)
    if not repeats:  # which of two writers of an element wins is nobody's rule
        order = np.argsort(d.rng.random(smaller[:axis % len(shape)] + [n] + smaller[axis % len(shape) + 1:]), axis=axis)
        where = np.take(order, range(smaller[axis]), axis=axis).astype(where.dtype)
        where = np.where(d.rng.random(where.shape) < 0.3, where - n, where).astype(where.dtype) if d.version >= 11 else where
    return d.case([d.values(shape, dtype), d.maybe_fixed(where), d.values(smaller, dtype)], attributes)


@recipe("ScatterND")
def scatter_nd(d):
    shape = d.shape(1, 4, 0.0)
    depth = d.integer(1, len(shape))
    attributes = d.some(reduction=reductions(d)) if d.version >= 16 else {}
    dtype = d.type()
    if attributes.get("reduction", "none") != "none":
        rows = index_rows(d, shape, 0, depth, d.dims(d.integer(1, 2)))
    else:
        every = np.stack(np.meshgrid(*[range(n) for n in shape[:depth]], indexing="ij"), -1).reshape(-1, depth)
        rows = d.rng.permutation(every)[:d.integer(1, 6)]
        rows = np.where(d.rng.random(rows.shape) < 0.3, rows - np.asarray(shape[:depth]), rows).astype(np.int64)
    return d.case([d.values(shape, dtype), d.maybe_fixed(rows), d.values(list(rows.shape[:-1]) + shape[depth:], dtype)], attributes)


@recipe("TopK")
def top_k(d):
    shape = d.shape(1, 4, 0.0)
    axis = d.axis(len(shape)) if d.version >= 11 else d.integer(0, len(shape) - 1)
    x = d.values(shape, d.type())
    k = d.integer(1, shape[axis])
    attributes = {} if axis in (-1, len(shape) - 1) and d.flag() else {"axis": axis}
    if d.version >= 11:
        attributes |= d.some(largest=[0, 1], sorted=[1])
    return d.case([x, d.known([k])], attributes, 2) if d.version >= 10 else d.case([x], attributes | {"k": k}, 2)


@recipe("ArgMax", "ArgMin")
def arg(d):
    shape = d.shape(1, 4, 0.0)
    axis = d.axis(len(shape)) if d.version >= 11 else d.integer(0, len(shape) - 1)
    attributes = ({} if axis in (0, -len(shape)) and d.flag() else {"axis": axis}) | d.some(keepdims=[0, 1])
    if d.version >= 12:
        attributes |= d.some(select_last_index=[0, 1])
    return d.case([d.values(shape, d.type())], attributes)


@recipe("OneHot")
def one_hot(d):
    shape = d.shape(0, 3)
    depth = d.integer(1, 6)
    axis = d.axis(len(shape), 1)
    kind = d.one(np.int64, np.int32, np.float32)
    chosen = np.asarray(d.rng.integers(-depth, depth, shape)).astype(kind)
    values = d.values([2], d.type(2))
    return d.case([chosen, d.known(d.one(depth, [depth]), d.one(np.int64, np.int32)), d.maybe_fixed(values)],
                  {} if axis in (-1, len(shape)) and d.flag() else {"axis": axis})


@recipe("CumSum")
def cum_sum(d):
    shape = d.shape(1, 4)
    return d.case([d.values(shape, d.type()), d.known(d.one(d.axis(len(shape))), d.one(np.int64, np.int32))], d.some(exclusive=[0, 1], reverse=[0, 1]))


@recipe("Trilu")
def trilu(d):
    shape = d.shape(2, 4)
    k = d.known(d.integer(-4, 4)) if d.flag(0.7) else None
    return d.case([d.values(shape, d.type()), k], d.some(upper=[0, 1]))


@recipe("EyeLike")
def eye_like(d):
    like = [np.float32, np.float64, np.float16, np.int64, np.int32, np.uint8, np.bool_]
    source = d.one(*[t for t in like if t in d.types(0)])
    attributes = d.some(k=[-2, -1, 0, 1, 3], dtype=[int(element_type(t)) for t in like])
    return d.case([d.values(d.dims(2), source)], attributes)


@recipe("ReverseSequence")
def reverse_sequence(d):
    shape = d.shape(2, 4, 0.0)
    batch = d.integer(0, 1)
    lengths = d.rng.integers(1, shape[1 - batch] + 1, shape[batch]).astype(np.int64)
    attributes = {"batch_axis": batch, "time_axis": 1 - batch} if batch == 0 or d.flag() else {}
    return d.case([d.values(shape, d.type()), d.maybe_fixed(lengths, 0.5)], attributes)


@recipe("Compress")
def compress(d):
    shape = d.shape(1, 4, 0.0)
    attributes = {} if d.flag(0.3) else {"axis": d.axis(len(shape)) if d.version >= 11 else d.integer(0, len(shape) - 1)}
    n = shape[attributes["axis"]] if attributes else int(np.prod(shape))
    chosen = d.rng.random(d.integer(1, n)) < 0.6
    return d.case([d.values(shape, d.type()), d.known(chosen, np.bool_)], attributes)


@recipe("NonZero")
def non_zero(d):
    x = d.values(d.shape(0 if d.version >= 13 else 1, 4), d.type())
    return d.case([d.maybe_fixed(np.where(d.rng.random(x.shape) < 0.4, np.zeros((), x.dtype), x), 0.9)])
