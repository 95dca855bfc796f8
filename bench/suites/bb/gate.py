"""Whether a kernel's answer to a case is right, more strictly than BackendBench asks: against PyTorch's operator on float64, its types, sizes, strides and aliases.

The allowed error has no number of our choosing but two: STEPS roundings of the result, and as much as the result moves (twice that) when the inputs move by KICK
roundings of their type: all up, all down, and two ways at random, in float64. That is what a sum that cancels or a value beside a step may lose."""
import math

import torch

STEPS = 4
KICK = 2
EXACT = {"nextafter.default", "hash_tensor.default", "frexp.Tensor"}  # of the type itself: float64 gives another answer
# Their inputs have a form (sorted, triangular, packed) that numbers in another order would not have.
FORMED = {"searchsorted.Tensor", "searchsorted.Scalar", "bucketize.Tensor", "histogram.bins_tensor", "cholesky_inverse.default", "cholesky_solve.default",
          "lu_unpack.default", "ormqr.default", "triangular_solve.default", "native_batch_norm.default", "_native_batch_norm_legit.default",
          "igamma.default", "igammac.default", "binary_cross_entropy.default"}


class Wrong(Exception):
    """What is wrong with an answer."""


def mapped(x, change):
    """The same structure with its tensors changed."""
    if isinstance(x, torch.Tensor):
        return change(x)
    if isinstance(x, list):
        return [mapped(i, change) for i in x]
    if isinstance(x, tuple) and not isinstance(x, torch.Size):
        return tuple(mapped(i, change) for i in x)
    if isinstance(x, dict):
        return {key: mapped(value, change) for key, value in x.items()}
    return x


def tensors_in(x):
    found = []
    mapped(x, lambda t: found.append(t) or t)
    return found


def remade(t, change):
    """All of the memory that a tensor lies in, changed, and the tensor in it."""
    if t.layout != torch.strided:
        return change(t)
    memory = torch.empty(0, dtype=t.dtype).set_(t.untyped_storage())
    return change(memory).as_strided(t.shape, t.stride(), t.storage_offset())


def cloned(x):
    """With their strides, in memory of their own; tensors that share memory do so no more."""
    return mapped(x, lambda t: remade(t, torch.clone))


def is_real(x):
    return isinstance(x, torch.Tensor) and x.dtype.is_floating_point


def doubled(arguments):
    """With float64 in the place of every floating type."""
    def change(x):
        if isinstance(x, torch.dtype):
            return torch.float64 if x.is_floating_point else x
        return x
    args, kwargs = mapped(arguments, lambda t: remade(t, lambda m: m.to(torch.float64) if is_real(m) else m.clone()))
    return tuple(change(a) for a in args), {key: change(value) for key, value in kwargs.items()}


def kicked(arguments, way):
    """Every real number moved; way gives the share for a size."""
    def kick(m):
        return m * (1 + way(m.shape)) if is_real(m) else m.clone()
    return mapped(arguments, lambda t: remade(t, kick))


def unit_of(tensor):
    return torch.finfo(tensor.dtype).eps / 2


def moves(op, arguments, exact, unit):
    """For every result how far its numbers go when the inputs are kicked."""
    generator = torch.Generator().manual_seed(1)
    far = [torch.zeros(e.shape, dtype=torch.float64) for e in exact]
    most = KICK * unit
    ways = [lambda size: most, lambda size: -most] + 2 * [lambda size: most * (2 * torch.rand(size, dtype=torch.float64, generator=generator) - 1)]
    for way in ways:
        try:
            args, kwargs = kicked(arguments, way)
            results = tensors_in(answers(op(*args, **kwargs)))
        except RuntimeError:
            break
        for f, e, r in zip(far, exact, map(dense, results)):
            if is_real(e) and e.shape == r.shape:
                step = (r - e).abs()
                f.copy_(torch.maximum(f, torch.where(step.isfinite(), step, torch.zeros_like(step))))
    return far


def answers(x):
    """A number or a truth as the others."""
    return x if isinstance(x, (torch.Tensor, list, tuple)) else torch.tensor(x)


def dense(t):
    t = t.to_dense() if t.layout != torch.strided else t
    return torch.view_as_real(t) if t.is_complex() else t


def compare_form(result, reference, strides):
    if result.dtype != reference.dtype:
        raise Wrong(f"type {result.dtype} in the place of {reference.dtype}")
    if result.shape != reference.shape:
        raise Wrong(f"size {tuple(result.shape)} in the place of {tuple(reference.shape)}")
    if result.layout != reference.layout:
        raise Wrong(f"layout {result.layout} in the place of {reference.layout}")
    if strides and result.layout == torch.strided and result.numel():
        pairs = [(r, s) for n, r, s in zip(result.shape, result.stride(), reference.stride()) if n > 1]
        if any(r != s for r, s in pairs):
            raise Wrong(f"strides {result.stride()} in the place of {reference.stride()}")


def compare_numbers(result, reference, exact, far, is_exact):
    result, reference, exact = dense(result), dense(reference), dense(exact)
    if not is_real(result) or is_exact or not is_real(exact):
        if not torch.equal(torch.nan_to_num(result.double(), 12345.0), torch.nan_to_num(reference.double(), 12345.0)):
            raise Wrong("numbers that must be equal are not")
        return 0.0
    rounded, mine = exact.to(result.dtype).double(), result.double()  # what float64 alone can hold is infinite in the result's type
    if not torch.equal(rounded.isnan(), mine.isnan()):
        raise Wrong("NaN at other places")
    infinite = rounded.isinf() | mine.isinf()
    allowed = STEPS * unit_of(result) * exact.abs() + 2 * far + torch.finfo(result.dtype).tiny
    if (infinite & (rounded != mine) & ~((exact.abs() + allowed > torch.finfo(result.dtype).max) & (rounded.sign() == mine.sign()))).any():
        raise Wrong("infinities at other places")
    plain = ~infinite & ~mine.isnan()
    off = (mine - exact).abs()[plain]
    over = off / allowed[plain]
    if over.numel() and over.max() > 1:
        raise Wrong(f"off by {over.max().item():.3g} times what is allowed ({off.max().item():.3g})")
    return over.max().item() if over.numel() else 0.0


def place(t):
    return t.untyped_storage().data_ptr() if t.layout == torch.strided and t.untyped_storage().nbytes() else None


def compare_aliases(results, arguments, references, reference_arguments):
    """A result lies in an argument's memory, or in that of another result, where PyTorch's does, and at the same place."""
    mine, theirs = [*arguments, *results], [*reference_arguments, *references]
    for i in range(len(results)):
        for j in range(len(arguments) + i):
            a, b = mine[j], mine[len(arguments) + i]
            c, d = theirs[j], theirs[len(arguments) + i]
            if None in (place(a), place(b), place(c), place(d)):
                continue
            if (place(a) == place(b)) != (place(c) == place(d)):
                raise Wrong("shares memory where PyTorch does not" if place(a) == place(b) else "does not share memory where PyTorch does")
            if place(a) == place(b) and b.numel() and b.storage_offset() != d.storage_offset():
                raise Wrong("shares memory at another place")


def same_bits(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and (dense(a) == dense(b)).logical_or(dense(a).isnan() & dense(b).isnan() if a.dtype.is_floating_point else torch.zeros((), dtype=torch.bool)).all().item()


def counted_between(arguments, edges):
    """Of histogram.bin_ct, those of histogram.bins_tensor."""
    kwargs = {key: value for key, value in arguments[1].items() if key in ("weight", "density")}
    return (arguments[0][0], edges.double()), kwargs


def compare(op, name, result, arguments, before, strides=True):
    """`arguments` as the kernel left them, `before` as it got them. The worst error, as a share of what is allowed."""
    native = cloned(before)
    reference = answers(op(*native[0], **native[1]))
    result = answers(result)
    if isinstance(reference, (list, tuple)) != isinstance(result, (list, tuple)):
        raise Wrong(f"a {type(result).__name__} in the place of a {type(reference).__name__}")
    results, references = tensors_in(result), tensors_in(reference)
    if len(results) != len(references):
        raise Wrong(f"{len(results)} results in the place of {len(references)}")
    given, as_given, should_be = tensors_in(arguments), tensors_in(before), tensors_in(native)
    for g, b, s in zip(given, as_given, should_be):
        changes = not same_bits(b, s)
        if not changes and not same_bits(g, b):
            raise Wrong("changes an argument")
        if changes:
            compare_numbers(g, s, s.double(), s.double().abs() * unit_of(s), False)
    compare_aliases(results, given, references, should_be)
    exact_arguments = doubled(before)
    if name == "histogram.bin_ct":  # what is counted is counted between edges of the type
        op, exact_arguments = torch.ops.aten.histogram.bins_tensor, counted_between(exact_arguments, references[1])
    exact = tensors_in(answers(op(*exact_arguments[0], **exact_arguments[1])))
    reals = [t for t in as_given if is_real(t)] or [r for r in references if is_real(r)]
    unit = max((unit_of(t) for t in reals), default=0)
    far = moves(op, exact_arguments, list(map(dense, exact)), unit)
    worst = 0.0
    for r, ref, e, f in zip(results, references, exact, far):
        compare_form(r, ref, strides)
        worst = max(worst, compare_numbers(r, ref, e if e.shape == ref.shape else ref, f, name in EXACT or e.shape != ref.shape))
    return worst


def changed_in_place(arguments, name):
    """Other numbers of the same kind at the same addresses: reversed and three quarters as large, or as large alone where order has a meaning."""
    changed = False
    for t in tensors_in(arguments):
        if is_real(t) and t.layout == torch.strided and t.numel() and not any(s == 0 for s in t.stride()):
            new = t.clone() if name in FORMED else t.flip(list(range(t.dim())))
            t.copy_(new * 0.75)
            changed = True
    return changed


def judge_once(op, name, kernel, arguments):
    """The case alone."""
    given = cloned(arguments)
    before = cloned(given)
    return compare(op, name, kernel(*given[0], **given[1]), given, before)


def judge(op, name, kernel, arguments):
    """The worst error of the kernel's answers, to the case and to other numbers at the same addresses, as a share of what is allowed. Raises Wrong."""
    given = cloned(arguments)
    before = cloned(given)
    first = kernel(*given[0], **given[1])
    worst = compare(op, name, first, given, before)
    kept = [t.clone() for t in tensors_in(answers(first))]
    views = {place(t) for t in tensors_in(given)}
    if not changed_in_place(given, name):
        return worst
    before = cloned(given)
    try:
        copies = cloned(given)
        op(*copies[0], **copies[1])
    except Exception:  # noqa: BLE001: PyTorch itself refuses these numbers
        return worst
    second = kernel(*given[0], **given[1])
    try:
        worst = max(worst, compare(op, name, second, given, before))
    except Wrong as wrong:
        raise Wrong(f"called again with other numbers at the same addresses: {wrong}") from None
    for was, now in zip(kept, tensors_in(answers(first))):
        if place(now) not in views and now.layout == torch.strided and not same_bits(was, now):
            raise Wrong("the second call changes what the first one gave")
    return worst


LAYS_OUT = {"as_strided.default", "as_strided_copy.default", "as_strided_scatter.default", "view.default", "view_as_complex.default"}  # ask for strides that are there


def spread(t):
    """The same numbers with their dimensions the other way round in memory, two elements apart."""
    if t.layout != torch.strided or t.dim() == 0:
        return t
    size = list(t.shape[::-1])
    memory = torch.zeros([*size, 2], dtype=t.dtype)
    wide = memory[..., 1].permute(list(range(t.dim() - 1, -1, -1)))
    wide.copy_(t)
    return wide


def judge_strided(op, name, kernel, arguments):
    """The case again with its tensors in other strides: the same numbers must come out; in which strides is left to the kernel. NaN: PyTorch itself refuses."""
    given = cloned(arguments if name in LAYS_OUT else mapped(arguments, spread))
    before = cloned(given)
    try:
        again = cloned(given)
        op(*again[0], **again[1])
    except Exception:  # noqa: BLE001
        return math.nan
    return compare(op, name, kernel(*given[0], **given[1]), given, before, strides=False)
