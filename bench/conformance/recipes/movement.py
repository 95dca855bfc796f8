"""What moves elements and computes nothing."""
import numpy as np

from recipes import recipe

FAR = np.iinfo(np.int64).max


def split_in_factors(d, number, pieces):
    """A shape of `pieces` dimensions with `number` elements."""
    shape = [1] * pieces
    for prime in (2, 3, 5, 7):
        while number % prime == 0 and number:
            shape[d.integer(0, pieces - 1)] *= prime
            number //= prime
    shape[0] *= number
    return shape


@recipe("Reshape")
def reshape(d):
    shape = d.shape(0, 4, 0.08)
    size = int(np.prod(shape))
    attributes = d.some(allowzero=[0, 1]) if d.version >= 14 else {}
    if size == 0:
        target = [n if n else (0 if attributes.get("allowzero") or i < len(shape) and shape[i] == 0 else 0) for i, n in enumerate(shape)]
        return d.case([d.values(shape, d.type()), d.known(target)], attributes)
    target = split_in_factors(d, size, d.integer(1, 5)) if size > 1 or d.flag() else []
    if target and d.flag(0.4):
        target[d.integer(0, len(target) - 1)] = -1
    if not attributes.get("allowzero"):
        for i in range(min(len(target), len(shape))):
            if target[i] == shape[i] and d.flag(0.5):
                target[i] = 0
    return d.case([d.values(shape, d.type()), d.known(target)], attributes)


@recipe("Flatten")
def flatten(d):
    shape = d.shape(0, 5)
    rank = len(shape)
    axes = list(range(0, rank + 1)) + (list(range(-rank, 0)) if d.version >= 11 else [])
    return d.case([d.values(shape, d.type())], d.some(axis=axes) if rank else d.some(axis=[0]) or {"axis": 0})


@recipe("Squeeze")
def squeeze(d):
    shape = d.shape(0, 4)
    ones = [i for i, n in enumerate(shape) if n == 1]
    axes = [i - len(shape) if d.version >= 11 and d.flag(0.4) else i for i in ones if d.flag(0.6)]
    x = d.values(shape, d.type())
    if d.flag(0.3) or not axes:
        return d.case([x])
    return d.case([x, d.known(axes)]) if d.version >= 13 else d.case([x], {"axes": axes})


@recipe("Unsqueeze")
def unsqueeze(d):
    shape = d.shape(0, 3)
    new = d.integer(1, 3)
    rank = len(shape) + new
    axes = [int(a) - rank if d.version >= 11 and d.flag(0.4) else int(a) for a in d.rng.permutation(rank)[:new]]
    if d.version < 11:
        axes = sorted(axes)
    x = d.values(shape, d.type())
    return d.case([x, d.known(axes)]) if d.version >= 13 else d.case([x], {"axes": axes})


@recipe("Transpose")
def transpose(d):
    shape = d.shape(0, 5)
    return d.case([d.values(shape, d.type())], d.some(perm=[[int(p) for p in d.rng.permutation(len(shape))]]) if shape else {})


@recipe("DepthToSpace")
def depth_to_space(d):
    block = d.integer(1, 3)
    shape = [d.integer(1, 2), d.integer(1, 3) * block * block, d.integer(1, 4), d.integer(1, 4)]
    return d.case([d.values(shape, d.type())], {"blocksize": block} | (d.some(mode=["DCR", "CRD"]) if d.version >= 11 else {}))


@recipe("SpaceToDepth")
def space_to_depth(d):
    block = d.integer(1, 3)
    shape = [d.integer(1, 2), d.integer(1, 3), d.integer(1, 3) * block, d.integer(1, 3) * block]
    return d.case([d.values(shape, d.type())], {"blocksize": block})


@recipe("Expand")
def expand(d):
    a, b = d.broadcast(2)
    return d.case([d.values(a, d.type()), d.known(b)])


@recipe("Tile")
def tile(d):
    shape = d.shape(1, 4)
    return d.case([d.values(shape, d.type()), d.known([d.one(1, 1, 2, 3, 0) if d.flag(0.3) else d.one(1, 2, 3) for _ in shape])])


@recipe("Concat")
def concat(d):
    shape = d.shape(1, 4)
    axis = d.axis(len(shape)) if d.version >= 11 else d.integer(0, len(shape) - 1)
    dtype = d.type()
    parts = []
    for _ in range(d.integer(1, 4)):
        part = list(shape)
        part[axis] = d.one(1, 2, 3, 0) if d.flag(0.3) else d.integer(1, 3)
        parts.append(d.floats(part, dtype))
    return d.case(parts, {"axis": axis})


@recipe("Split")
def split(d):
    shape = d.shape(1, 4)
    axis = d.axis(len(shape)) if d.version >= 11 else d.integer(0, len(shape) - 1)
    pieces = d.integer(1, 4)
    attributes = {} if axis in (0, -len(shape)) and d.flag() else {"axis": axis}
    if d.flag(0.5):
        sizes = [d.integer(0, 3) for _ in range(pieces)]
        shape[axis] = sum(sizes)
        x = d.values(shape, d.type())
        return d.case([x, d.known(sizes)], attributes, pieces) if d.version >= 13 else d.case([x], attributes | {"split": sizes}, pieces)
    shape[axis] = pieces * d.integer(1, 2)
    if d.version >= 18:
        attributes["num_outputs"] = pieces
        if pieces > 1 and d.flag(0.4):
            shape[axis] = pieces * d.integer(1, 2) + d.one(1, 0) * (pieces - 1)  # the last one is smaller
    return d.case([d.values(shape, d.type())], attributes, pieces)


@recipe("Slice")
def slices(d):
    shape = d.shape(1, 4)
    x = d.values(shape, d.type())
    axes = d.axes(len(shape), 1)
    if d.version < 10:
        axes = sorted({a % len(shape) for a in axes})
    starts, ends, steps = [], [], []
    for axis in axes:
        n = shape[axis]
        steps.append(d.one(1, 1, 2, 3, -1, -2, -3) if d.version >= 10 else 1)
        bounds = sorted([d.integer(-n - 2, n + 2), d.integer(-n - 2, n + 2)], key=lambda v: v % n if -n <= v < n and n else v)
        first, last = bounds if steps[-1] > 0 else bounds[::-1]
        starts.append(first)
        ends.append(d.one(last, FAR if steps[-1] > 0 else -FAR) if d.flag(0.3) else last)
    if d.version < 10:
        named = {"axes": axes} if d.flag(0.7) or axes != list(range(len(axes))) else {}
        return d.case([x], {"starts": starts, "ends": ends} | named)
    dtype = d.one(np.int64, np.int32)
    ends = [int(np.clip(e, np.iinfo(dtype).min, np.iinfo(dtype).max)) for e in ends]
    in_order = [a % len(shape) for a in axes] == list(range(len(axes)))
    inputs = [x, d.known(starts, dtype), d.known(ends, dtype)]
    plain = all(s == 1 for s in steps)
    inputs.append(None if in_order and d.flag() else d.known(axes, dtype))
    inputs.append(None if plain and d.flag() else d.known(steps, dtype))
    return d.case(inputs)


@recipe("Pad")
def pad(d):
    shape = d.shape(1, 4, 0.0)
    rank = len(shape)
    modes = ["constant", "reflect", "edge"] + (["wrap"] if d.version >= 19 else [])
    attributes = d.some(mode=modes)
    mode = attributes.get("mode", "constant")
    axes = [int(a) for a in d.rng.permutation(rank)[:d.integer(1, rank)]] if d.version >= 18 and d.flag() else list(range(rank))

    def amount(n):
        if mode == "constant" or mode == "edge":
            return d.integer(-1 if n > 2 else 0, 3)
        return d.integer(0, n - 1 if mode == "reflect" else n)
    pads = [amount(shape[a]) for a in axes] + [amount(shape[a]) for a in axes]
    dtype = d.type()
    x = d.values(shape, dtype)
    value = d.one(0, 1, 2.5, -3)
    if d.version < 11:
        return d.case([x], attributes | {"pads": pads} | (d.some(value=[float(value)])))
    inputs = [x, d.known(pads)]
    filler = d.maybe_fixed(np.asarray(abs(value) if np.dtype(dtype).kind in "ub" else value).astype(dtype), 0.7) if d.flag() else None
    signed = [a - rank if d.flag(0.3) else a for a in axes]
    named = d.known(signed, d.one(np.int64, np.int32)) if axes != list(range(rank)) or (d.version >= 18 and d.flag(0.3)) else None
    return d.case(inputs + [filler, named], attributes)
