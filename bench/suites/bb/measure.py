"""Every operator of BackendBench's OpInfo suite by our folders; bench/suites/backendbench starts it and says what its options are.

A row of JSON is written for every entry as it ends, and entries that have one of this build are skipped: the same command goes on after any end. An entry is judged in a
process of its own, which ends at the limit with a row that says so."""
import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir)]
from bb import folders, operators, report, scores, text_check, versions  # noqa: E402
from bb.rows import Rows  # noqa: E402
from kb.processes import Failed, Late, forked  # noqa: E402


def options_of_command_line():
    parser = argparse.ArgumentParser(prog="bench/suites/backendbench", description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", required=True, metavar="DIR")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--device", choices=["cpu"], default="cpu")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float64"], default="float32")
    parser.add_argument("--limit", type=float, default=300, metavar="S")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--tune", metavar="CASE")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("operators", nargs="*", metavar="OP")
    options = parser.parse_args()
    options.checkout, options.out = os.path.abspath(options.checkout), os.path.abspath(options.out)
    if not os.path.exists(os.path.join(options.checkout, "BackendBench", "suite", "opinfo.py")):
        parser.error(f"--checkout: {options.checkout} is no clone of BackendBench")
    return options


def text_faults(out, written):
    """By folder."""
    package = text_check.faults_of_package(out)
    return {folder: package + text_check.faults_of_folder(out, folder) for folder in written}


def row_of(name, entry, backend, faults, options):
    operator = name.split(" ")[0]
    row = {"entry": name, "operator": operator}
    if operator in operators.LEFT_OUT:
        return {**row, "left_out": operators.LEFT_OUT[operator]}
    if entry.op not in backend:
        return {**row, "not_served": True}
    from bb import entries
    try:
        row.update(forked(entries.judged, entry, backend[entry.op], operator, seconds=options.limit, log=os.path.join(options.out, "log.txt")))
        row["faults"] = faults.get(operators.folder_of(operator), []) + row["faults"]
    except Late as late:
        row.update(failed=str(late), late=True)
    except Failed as failed:
        row.update(failed=str(failed))
    return row


def progress(at, of, row):
    counts = ", ".join(f"{gate} {row[gate]}" for gate in scores.GATES if gate in row)
    print(f"[{at}/{of}] {row['entry']}: {scores.state(row)} {row.get('cases', '')} cases: {counts} {report.why(row)[:200]}".rstrip(), file=sys.stderr, flush=True)


def write(path, text):
    with open(path + ".part", "w") as file:
        file.write(text)
    os.replace(path + ".part", path)


def main():
    options = options_of_command_line()
    os.makedirs(options.out, exist_ok=True)
    unknown = set(options.operators) - {operators.operator_of(f) for f in operators.served()} - set(operators.LEFT_OUT)
    if unknown:
        sys.exit(f"backendbench: no kernel of ours for {', '.join(sorted(unknown))}")
    try:
        written = folders.write(options.out, set(options.operators) or None)
    except RuntimeError as error:
        sys.exit(f"backendbench: {error}")
    if options.tune:
        from bb.tune import tune
        return tune(options)
    facts = versions.provenance(options, folders.fingerprint(), folders.compiler())
    stem = os.path.join(options.out, f"{options.device}-{options.dtype}")
    table = os.path.join(options.out, "amdahl_aten", folders.TABLE)
    judges = folders.fingerprint([table, *(os.path.join(HERE, name + ".py") for name in ("gate", "twice", "entries", "dispatch", "text_check"))])
    rows = Rows(f"{stem}.jsonl", f"{facts['build']} judged by {judges}, torch {facts['versions']['torch']}, seed {options.seed}", options.limit)
    from bb import entries
    named = entries.load(options.checkout, options.device, options.dtype, options.seed, options.operators)
    backend, faults = entries.kernels(options.out), text_faults(options.out, written)
    for at, (name, entry) in enumerate(named.items(), 1):
        if not rows.is_done(name):
            rows.add(row_of(name, entry, backend, faults, options))
            progress(at, len(named), rows.by_name[name])
    chosen = rows.of(named)
    text = report.document(facts, chosen)
    write(f"{stem}.md", text)
    for path in filter(None, (f"{stem}.json", options.json)):
        write(path, json.dumps({**facts, "totals": scores.counted(chosen), "rows": chosen}, indent=1))
    print(text)
    sys.exit(any(scores.state(r) == "wrong" for r in chosen))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # what is done is kept
