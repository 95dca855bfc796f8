"""Generated cases through the program and through other implementations: see bench/conformance/run --help."""
import argparse
import collections
import concurrent.futures
import os
import re
import secrets
import sys

import numpy as np
import onnx

import answers
import explained
import keep
import references
import stream
from cases import Fixed
from generate import Generator, key

GENERATOR = None  # in each worker process


def start_worker(operators, seed):
    global GENERATOR
    GENERATOR = Generator(operators, seed)


def stated_case(number):
    case = GENERATOR.case(number)
    stated, silent = references.ask(case)
    return number, stream.packed(case, stated), list(stated), silent


def reason_of(message):
    """Of a refusal, without what is this case's own."""
    line = message.splitlines()[-1].strip()
    line = re.sub(r"^.*?(\(node '[^']*'\)|node '[^']*'): ", "", line)
    return re.sub(r"'x(\d)'", r"\1", re.sub(r"\[[-\d, ]*\]", "[...]", re.sub(r"\b\d+\b", "N", line)))


class Tally:
    """What came of the cases of one operator."""

    def __init__(self):
        self.counts = collections.Counter()

    def row(self, name):
        columns = ["cases", *references.NAMES, "oracle refused", "kernels", "kernels refused", "explained", "unexplained"]
        return "| " + " | ".join([name] + [str(self.counts[c]) for c in columns]) + " |"


class Judge:
    def __init__(self, generator):
        self.generator = generator
        self.tallies = collections.defaultdict(Tally)
        self.refused, self.explained, self.silent = collections.Counter(), collections.Counter(), collections.Counter()
        self.unexplained = {}  # by number: what is wrong
        self.differing = set()  # numbers of cases that are refused, or whose references do not all agree

    def add(self, number, names, silent, ways):
        case = self.generator.case(number)
        op = (case.domain + "." if case.domain else "") + case.op
        counts = self.tallies[op].counts
        counts["cases"] += 1
        for reference, reason in silent.items():
            self.silent[f"{op}, {reference}: {reason}"] += 1
        wrong, reasons, agreeing = [], set(), agreeing_of(ways)
        for way, answer in ways.items():
            self.count(counts, op, names, way, answer)
            for reference, text in faults(way, answer):
                reason = explained.explanation(case, reference, text, agreeing)
                reasons.add(f"{op}, {reference}: {reason}") if reason else wrong.append(f"{way}, {reference}: {text}")
        if wrong or reasons or any("refused" in a for way, a in ways.items() if way != "kernels"):
            self.differing.add(number)
        for reason in reasons:
            self.explained[reason] += 1
        if wrong:
            counts["unexplained"] += 1
            self.unexplained[number] = wrong
        elif reasons:
            counts["explained"] += 1

    def count(self, counts, op, names, way, answer):
        if "refused" in answer:
            counts[f"{way} refused"] += 1
            if way in ("oracle", "kernels"):
                self.refused[f"{op} ({way}): {reason_of(answer['refused'])}"] += 1
        elif way == "kernels":
            counts["kernels"] += 1
        elif way == "oracle":
            counts.update(names)

    def table(self):
        head = ["operator", "cases", *references.NAMES, "oracle refuses", "kernels", "no kernel", "explained", "unexplained"]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += [tally.row(op) for op, tally in sorted(self.tallies.items())]
        whole = Tally()
        for tally in self.tallies.values():
            whole.counts.update(tally.counts)
        return "\n".join(lines + [whole.row("all")])


def agreeing_of(ways):
    """The references that say the same as the oracle."""
    return {r for r, text in ways.get("oracle", {}).get("differences", {}).items() if not text}


def faults(way, answer):
    if "failed" in answer:
        return [("failure", answer["failed"])]
    return [(r, text) for r, text in answer.get("differences", {}).items() if text]


def listing(title, counter, most=400):
    if counter:
        print(f"\n{title}:")
        for text, count in counter.most_common(most):
            print(f"{count:6}  {text}")


def leave(folder, case, wrong, again):
    """The failing case, for whoever looks into it."""
    there = os.path.join(folder, case.name.replace(" ", "-"))
    os.makedirs(there, exist_ok=True)
    onnx.save(case.model(), os.path.join(there, "model.onnx"))
    for name, array in case.fed().items():
        np.save(os.path.join(there, name + ".npy"), array)
    with open(os.path.join(there, "what.txt"), "w") as file:
        file.write("\n".join(wrong + [describe(case), again]) + "\n")


def describe(case):
    inputs = ", ".join("absent" if x is None else f"{'constant ' if isinstance(x, Fixed) else ''}{getattr(x, 'array', x).dtype} "
                       f"{list(getattr(x, 'array', x).shape)}" for x in case.inputs)
    attributes = ", ".join(f"{k}={str(v)[:60]}" for k, v in case.attributes.items())
    return f"{case.name} ({inputs}) {{{attributes}}}"


def show(case, ways, stated):
    print(describe(case))
    for name, array in case.arrays().items():
        print(f"  {name} = {np.array2string(array, threshold=60)}")
    for reference, outputs in stated.items():
        for i, output in enumerate(outputs):
            print(f"  {reference} {i} = {output.dtype} {output.shape} {np.array2string(output, threshold=60)}")
    for way, answer in ways.items():
        print(f"  {way}: {answer.get('differences') or answer.get('refused') or answer.get('failed')}")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--cases", type=int, default=10000)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--ops", default="")
    parser.add_argument("--kernels", type=int, default=500)
    parser.add_argument("--case", type=int)
    parser.add_argument("--folder", default="conformance-failures")
    parser.add_argument("--keep", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def chosen(operators, text):
    names = {n for n in text.split(",") if n}
    unknown = names - {key(o) for o in operators}
    if unknown:
        raise SystemExit(f"no operator {', '.join(sorted(unknown))}")
    return [o for o in operators if not names or key(o) in names]


def main():
    options = arguments()
    seed = options.seed if options.seed is not None else secrets.randbits(32)
    operators = chosen(answers.operators(options.program), options.ops)
    again = f"bench/conformance/run --seed {seed}" + (f" --ops {options.ops}" if options.ops else "")
    generator = Generator(operators, seed)
    if options.case is not None:
        case = generator.case(options.case)
        stated, silent = references.ask(case)
        ways = answers.ask(options.program, [stream.packed(case, stated)], True, 1)[0]
        show(case, ways, stated | {f"{r} has none:": [np.asarray(why)] for r, why in silent.items()})
        return int(any(not explained.explanation(case, r, text, agreeing_of(ways)) for way, a in ways.items() for r, text in faults(way, a)))
    print(f"{options.cases} cases of {len(operators)} operators, kernels of the first {min(options.kernels, options.cases)}; seed {seed}", flush=True)
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=start_worker, initargs=(operators, seed)) as pool:
        made = list(pool.map(stated_case, range(options.first, options.first + options.cases), chunksize=50))
    blobs = [blob for _, blob, _, _ in made]
    ways = answers.ask(options.program, blobs[:options.kernels], True, options.jobs) + answers.ask(options.program, blobs[options.kernels:], False, options.jobs)
    judge = Judge(generator)
    for (number, _, names, silent), answer in zip(made, ways):
        judge.add(number, names, silent, answer)
    print("\n" + judge.table())
    if options.keep:
        keep.write(options.keep, [generator.case(number) for number, *_ in made], made, judge.differing)
    listing("No opinion", judge.silent)
    listing("Refused, with a reason", judge.refused)
    listing("Explained", judge.explained)
    for number, wrong in judge.unexplained.items():
        leave(options.folder, generator.case(number), wrong, f"{again} --case {number}")
        print(f"\n{describe(generator.case(number))}\n  " + "\n  ".join(wrong) + f"\n  {again} --case {number}")
    print(f"\n{options.cases} cases, {len(judge.unexplained)} unexplained (seed {seed})")
    return int(bool(judge.unexplained))


if __name__ == "__main__":
    sys.exit(main())
