"""Whether a kernel's answer to a case is right, more strictly than BackendBench asks: against PyTorch's operator on float64, its types, sizes, strides and aliases.

The allowed error has no number of our choosing but two: STEPS roundings of the result, and as much as the result moves (twice that) when the inputs move by KICK
roundings of their type: all up, all down, and four ways at random, in float64. That is what a sum that cancels or a value beside a step may lose."""
import math

import torch

from bb.twice import Wrong, asked_twice

STEPS = 4
KICK = 2
MANY = 100000  # numbers: two ways at random do for them
# Of the type itself, where float64 gives another answer: what PyTorch gives in that type is asked to the last bit. (A bin is found by steps that are rounded to it.)
EXACT = {"nextafter.default", "hash_tensor.default", "frexp.Tensor", "histc.default"}
# Their inputs have a form (sorted, triangular, packed) that numbers in another order would not have.
FORMED = {"searchsorted.Tensor", "searchsorted.Scalar", "bucketize.Tensor", "histogram.bins_tensor", "cholesky_inverse.default", "cholesky_solve.default",
          "lu_unpack.default", "ormqr.default", "triangular_solve.default", "native_batch_norm.default", "_native_batch_norm_legit.default",
          "igamma.default", "igammac.default", "binary_cross_entropy.default"}


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
    ways = [lambda size: most, lambda size: -most] + 4 * [lambda size: most * (2 * torch.rand(size, dtype=torch.float64, generator=generator) - 1)]
    many = sum(t.numel() for t in tensors_in(arguments)) > MANY
    for way in ways[1:4] if many else ways:
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
        if not same_bits(result, reference):
            raise Wrong("numbers that must be equal are not")
        return 0.0
    rounded, mine = exact.to(result.dtype).double(), result.double()  # what float64 alone can hold is infinite in the result's type
    if not torch.equal(rounded.isnan(), mine.isnan()):
        raise Wrong("NaN at other places")
    infinite = rounded.isinf() | mine.isinf()
    allowed = STEPS * unit_of(result) * exact.abs() + 2 * far + torch.finfo(result.dtype).tiny
    at_the_end = exact.isfinite() & (torch.minimum(exact.abs(), mine.abs()) + allowed > torch.finfo(result.dtype).max) & (rounded.sign() == mine.sign())
    if (infinite & (rounded != mine) & ~at_the_end).any():
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
    """NaN is equal to NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = (dense(t).view(torch.int64) if t.dtype == torch.uint64 else dense(t) for t in (a, b))
    equal = a == b
    return bool((equal | (a.isnan() & b.isnan()) if a.dtype.is_floating_point else equal).all())


def counted_between(arguments, edges):
    """Of histogram.bin_ct, those of histogram.bins_tensor."""
    kwargs = {key: value for key, value in arguments[1].items() if key in ("weight", "density")}
    return (arguments[0][0], edges.double()), kwargs


def known_of(op, name, before, references):
    """What float64 gives for each result, and how far it moves."""
    arguments = doubled(before)
    if name == "histogram.bin_ct":  # what is counted is counted between edges of the type
        op, arguments = torch.ops.aten.histogram.bins_tensor, counted_between(arguments, references[1])
    exact = tensors_in(answers(op(*arguments[0], **arguments[1])))
    reals = [t for t in tensors_in(before) if is_real(t)] or [r for r in references if is_real(r)]
    return exact, moves(op, arguments, list(map(dense, exact)), max(map(unit_of, reals), default=0))


def compare_arguments(given, as_given, should_be):
    """What an operator does not write is as it was; what it writes is as PyTorch leaves it."""
    for g, b, s in zip(given, as_given, should_be):
        if not same_bits(b, s):
            compare_numbers(g, s, s.double(), s.double().abs() * unit_of(s), False)
        elif not same_bits(g, b):
            raise Wrong("changes an argument")


def spread_over(far, terms):
    """Of sums in their own type: all of a product's results sum as many numbers, and what some of them lose the others may."""
    return far if terms == 1 or not far.numel() else far.max() * math.sqrt(terms) * torch.ones_like(far)


def compare(op, name, result, arguments, before, strides=True, known=None, terms=1):
    """`arguments` as the kernel left them, `before` as it got them. The worst error, as a share of what is allowed, and what known_of gave or gives."""
    native = cloned(before)
    reference = answers(op(*native[0], **native[1]))
    result = answers(result)
    if isinstance(reference, (list, tuple)) != isinstance(result, (list, tuple)):
        raise Wrong(f"a {type(result).__name__} in the place of a {type(reference).__name__}")
    results, references = tensors_in(result), tensors_in(reference)
    if len(results) != len(references):
        raise Wrong(f"{len(results)} results in the place of {len(references)}")
    given, should_be = tensors_in(arguments), tensors_in(native)
    compare_arguments(given, tensors_in(before), should_be)
    compare_aliases(results, given, references, should_be)
    known = known or known_of(op, name, before, references)
    worst = 0.0
    for r, ref, e, f in zip(results, references, *known):
        compare_form(r, ref, strides)
        alike = e.shape == ref.shape
        worst = max(worst, compare_numbers(r, ref, e if alike else ref, spread_over(f, terms), name in EXACT or not alike))
    return worst, known


def changed_in_place(arguments, name):
    """Other numbers of the same kind at the same addresses: reversed and three quarters as large, or as large alone where order has a meaning."""
    changed = False
    for t in tensors_in(arguments):
        if is_real(t) and t.layout == torch.strided and t.numel() and not any(s == 0 for s in t.stride()):
            new = t.clone() if name in FORMED else t.flip(list(range(t.dim())))
            t.copy_(new * 0.75)
            changed = True
    return changed


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


class Case:
    """The arguments of one case. What float64 gives for them is computed once, at the first question.

    terms: how many numbers a plan sums one after another in their own type, if it does: its error grows with their root. The library sums in double: 1."""

    def __init__(self, op, name, arguments, terms=1):
        self.op, self.name, self.arguments, self.terms, self.known = op, name, arguments, terms, None

    def compared(self, result, given, before, strides=True, changed=False):
        worst, known = compare(self.op, self.name, result, given, before, strides, None if changed else self.known, self.terms)
        self.known = self.known if changed else known
        return worst

    def is_refused(self, arguments):
        """Whether PyTorch itself takes no such arguments."""
        args, kwargs = cloned(arguments)
        try:
            self.op(*args, **kwargs)
        except Exception:  # noqa: BLE001
            return True
        return False

    def judge_once(self, kernel):
        given = cloned(self.arguments)
        before = cloned(given)
        return self.compared(kernel(*given[0], **given[1]), given, before)

    def judge_strided(self, kernel):
        """Its tensors in other strides: the same numbers must come out; in which strides is left to the kernel. NaN: PyTorch itself refuses."""
        given = cloned(self.arguments if self.name in LAYS_OUT else mapped(self.arguments, spread))
        before = cloned(given)
        return math.nan if self.is_refused(given) else self.compared(kernel(*given[0], **given[1]), given, before, strides=False)

    def judge(self, kernel):
        """The worst error of the kernel's answers, to the case and to other numbers at the same addresses, as a share of what is allowed. Raises Wrong."""
        given = cloned(self.arguments)
        before = cloned(given)
        errors, places = [], {place(t) for t in tensors_in(given)}

        def check(answer):
            errors.append(self.compared(answer, given, before, changed=bool(errors)))

        def change():
            nonlocal before
            if not changed_in_place(given, self.name):
                return False
            before = cloned(given)
            return not self.is_refused(given)

        def own(answer):
            """What lies in no argument's memory, and may not change."""
            return [t for t in tensors_in(answers(answer)) if t.layout == torch.strided and place(t) not in places]

        asked_twice(lambda: kernel(*given[0], **given[1]), check, change, copied=lambda answer: [t.clone() for t in own(answer)],
                    same=lambda kept, answer: all(map(same_bits, kept, own(answer))))
        return max(errors)
