"""Case number N of a seed: which operator, which opset, and its recipe's draw."""
import collections

import numpy as np
import onnx

from draws import Draw
from recipes import RECIPES

OLDEST, NEWEST = 9, 26  # opsets that the program reads
OTHER_OPSET = 17        # for operators that ONNX itself does not have


def key(operator):
    return (operator["domain"] + "." if operator["domain"] else "") + operator["name"]


def histories():
    """The schemas of each operator of ONNX's own, oldest first."""
    found = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST:
            found[schema.name].append(schema)
    return {name: sorted(schemas, key=lambda s: s.since_version) for name, schemas in found.items()}


class Generator:
    def __init__(self, operators, seed):
        self.seed = seed
        self.histories = histories()
        missing = [key(o) for o in operators if key(o) not in RECIPES]
        if missing:
            raise SystemExit(f"no recipe for {', '.join(missing)}: write one in bench/conformance/recipes")
        # The more attributes and inputs an operator has, the more of the cases are its own.
        turns = [o for o in operators for _ in range(2 + self.choices(o))]
        self.turns = [turns[i] for i in np.random.default_rng([seed, 0]).permutation(len(turns))]

    def schemas(self, operator):
        return [] if operator["domain"] else self.histories.get(operator["name"], [])

    def choices(self, operator):
        schemas = self.schemas(operator)
        return len(schemas[-1].attributes) + sum(c.isupper() for c in operator["inputs"]) if schemas else 1

    def version(self, rng, operator):
        """A schema, each as often as any other, and an opset at which it holds."""
        schemas = self.schemas(operator)
        if not schemas:
            return None, OTHER_OPSET
        ends = [s.since_version - 1 for s in schemas[1:]] + [NEWEST]
        reachable = [(s, max(OLDEST, s.since_version), end) for s, end in zip(schemas, ends) if end >= OLDEST and not s.deprecated]
        schema, low, high = reachable[rng.integers(len(reachable))]
        return schema, int(rng.integers(low, high + 1))

    def case(self, number):
        operator = self.turns[number % len(self.turns)]
        rng = np.random.default_rng([self.seed, number, 1])
        schema, opset = self.version(rng, operator)
        draw = Draw([self.seed, number, 2], operator, schema, opset)
        case = RECIPES[key(operator)](draw)
        case.number = number
        return case
