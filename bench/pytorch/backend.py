"""backend.py [--minutes N] [--json FILE] [MODEL …]: torch.compile(module, backend="amdahl") on the twelve, and on one with a graph break, one that is
called with three shapes, and one whose weights change between calls. Each output is held against the module's own."""
import argparse
import json
import os
import sys
import time
import warnings

import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here]
import twelve  # noqa: E402
from amdahl.pytorch.backend import amdahl as backend  # noqa: E402

GRAPHS = []


def counted(graph, inputs, **options):
    """The backend, with what it made kept: to see which calls it computed."""
    GRAPHS.append(backend(graph, inputs, **options))
    return GRAPHS[-1]


def difference(got, want):
    """The largest, relative to the size of the output."""
    pairs = list(zip(twelve.tensors_of(got), twelve.tensors_of(want)))
    assert pairs and len(twelve.tensors_of(got)) == len(twelve.tensors_of(want))
    return max(float((g.float() - w.float()).abs().max() / w.float().abs().max().clamp_min(1e-30)) for g, w in pairs)


def fast_calls():
    """Of the plans of the graphs since the last reset."""
    return sum(f.fast_calls for g in GRAPHS if hasattr(g, "_fast") for f in g._fast.values() if f)


def compiled(module, options):
    torch._dynamo.reset()
    GRAPHS.clear()
    return torch.compile(module, backend=counted, options={"minutes": options.minutes, "progress": False, "never_slower": False})


def called(module, fast, arguments, times=3):
    """Seconds of the first call, the difference of the last, milliseconds of a call, and the calls that plans computed."""
    start = time.perf_counter()
    fast(*arguments)
    first, before = time.perf_counter() - start, fast_calls()
    begin = time.perf_counter()
    for _ in range(times):
        got = fast(*arguments)
    each = (time.perf_counter() - begin) / times
    return {"first_s": first, "ms": 1e3 * each, "difference": difference(got, module(*arguments)), "graphs": len(GRAPHS), "fast_calls": fast_calls() - before,
            "calls": times}


class Broken(torch.nn.Module):
    """A graph break between two halves: .item() is Python's."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(256, 256), torch.nn.Linear(256, 256)

    def forward(self, x):
        y = torch.relu(self.first(x))
        return self.second(y) if y.sum().item() > 0 else self.second(-y)


def special(options):
    rows = {}
    module, x = Broken().eval(), torch.randn(32, 256)
    rows["graph break"] = called(module, compiled(module, options), (x,))
    module = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256)).eval()
    fast = compiled(module, options)
    for n in (8, 24, 40):
        rows[f"three shapes, {n} rows"] = called(module, fast, (torch.randn(n, 256),))
    module, x = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU()).eval(), torch.randn(8, 256)
    fast = compiled(module, options)
    rows["before its weights change"] = called(module, fast, (x,))
    with torch.no_grad():
        module[0].weight.mul_(1.5)
    rows["changed in place: as it is"] = called(module, fast, (x,))
    module[0].weight = torch.nn.Parameter(torch.randn(512, 256))
    rows["another parameter: as it is"] = called(module, fast, (x,))
    return rows


def say(name, row):
    print(f"| {name} | {row['graphs']} | {row['first_s']:.1f} | {row['ms']:.2f} | {row['fast_calls']} of {row['calls']} | {row['difference']:.0e} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=0.5)
    parser.add_argument("--json")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    warnings.filterwarnings("always", "amdahl:")
    print("| module | graphs | first call, s | ms | calls by plans | difference |\n|---|---|---|---|---|---|")
    rows = {}
    with torch.no_grad():
        for name in options.models or twelve.MODELS:
            module, arguments = twelve.make(name)
            try:
                rows[name] = called(module, compiled(module, options), arguments)
                say(name, rows[name])
            except Exception as error:  # the table says so, and goes on
                rows[name] = {"failed": f"{type(error).__name__}: {error}"[:300]}
                print(f"| {name} | {rows[name]['failed'].splitlines()[0][:120]} | | | | |", flush=True)
        if not options.models:
            for name, row in special(options).items():
                rows[name] = row
                say(name, row)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    sys.exit(any("failed" in row for row in rows.values()))


if __name__ == "__main__":
    main()
