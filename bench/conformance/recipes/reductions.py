"""Reductions over axes."""
from recipes import recipe

INPUT_SINCE = {"ReduceSum": 13}  # the version from which axes are an input; of the others 18


@recipe("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")
def reduce(d):
    empty = 0 if d.op in ("ReduceMean", "ReduceMax", "ReduceMin") and d.version < 20 else 0.03  # their value is not defined there
    shape = d.shape(0, 4, empty)
    dtype = d.type()
    x = d.positive(shape, dtype) if d.op == "ReduceLogSum" else d.values(shape, dtype, 0.15 if d.op in ("ReduceMax", "ReduceMin") else 0)
    axes = d.axes(len(shape), 1)
    if d.version < 11:
        axes = [a % len(shape) for a in axes]
    attributes = d.some(keepdims=[0, 1])
    if d.version < INPUT_SINCE.get(d.op, 18):
        return d.case([x], attributes | ({"axes": axes} if axes and d.flag(0.75) else {}))
    attributes |= d.some(noop_with_empty_axes=[0, 1])
    named = d.known(axes) if axes and d.flag(0.7) else d.known([]) if d.flag(0.4) else None
    return d.case([x] + ([named] if named is not None else []), attributes)
