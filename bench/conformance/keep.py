"""The cases that ./check runs (tests/conformance): a few of each operator, none large, with as many attributes set in as many ways as they have."""
import collections

import stream
from generate import key

EACH = 2           # of every operator, and one for each attribute that it has
BYTES = 2000       # of a case at most


def ways(case):
    """What is particular about a case."""
    kinds = [(f"attribute {name}", str(value)[:40]) for name, value in case.attributes.items()]
    kinds += [("type", str(a.dtype)) for a in case.arrays().values()]
    kinds += [("inputs", tuple(x is not None for x in case.inputs)), ("outputs", tuple(case.outputs)), ("opset", case.opset)]
    return set(kinds)


def chosen(cases, blobs):
    """Greedily what shows most that none before has shown, the larger the sooner: loops have more to get wrong."""
    seen, taken = set(), []
    left = sorted(cases, key=lambda c: -len(blobs[c.number]))
    count = EACH + len({k for c in cases for k in c.attributes})
    while left and len(taken) < count:
        best = max(left, key=lambda c: len(ways(c) - seen))
        seen |= ways(best)
        taken.append(best)
        left = [case for case in left if case is not best]
    return taken


def write(path, cases, made, differing):
    blobs = {number: blob for number, blob, *_ in made}
    stated = {number for number, _, names, _ in made if names}
    by_operator = collections.defaultdict(list)
    for case in cases:
        if case.number in stated and case.number not in differing and len(blobs[case.number]) <= BYTES:
            by_operator[key({"domain": case.domain, "name": case.op})].append(case)
    kept = [case for op in sorted(by_operator) for case in chosen(by_operator[op], blobs)]
    stream.write(path, [blobs[case.number] for case in kept])
    print(f"kept {len(kept)} cases of {len(by_operator)} operators in {path}")
