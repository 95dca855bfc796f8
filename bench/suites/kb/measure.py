"""Every problem exported, checked, tuned and timed; bench/suites/kernelbench starts it and says what its options are.

A row of JSON is written for every problem as it ends, and problems that have one are skipped: the same command goes on after any end. A step that took longer than the limit
is a row too; a greater limit tries it again."""
import argparse
import json
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir), os.path.join(HERE, os.pardir, os.pardir, "peers")]
import budget  # noqa: E402
import rows as kept_rows  # noqa: E402
import sources  # noqa: E402
import tables  # noqa: E402
import versions  # noqa: E402
from comparison import compare, python_arm, rounds_ms  # noqa: E402  (bench/peers)
from processes import Failed, Late, forked, program  # noqa: E402

PROGRAM = os.environ["AMDAHL_PROGRAM"]
REFUSALS = (3, 4, 6)  # docs/exit-codes.md


class Refused(Exception):
    """The program's own reason."""


def read_json(path):
    if os.path.exists(path):
        with open(path) as file:
            return json.load(file)
    return None


def write_json(path, value):
    with open(path + ".part", "w") as file:
        json.dump(value, file, indent=1)
    os.rename(path + ".part", path)
    return value


class Bench:
    """One problem after another; `at` is a problem's folder."""

    def __init__(self, options, build):
        self.options, self.build = options, build

    def at(self, name):
        folder = os.path.join(self.options.folder, self.options.sizes, name)
        os.makedirs(folder, exist_ok=True)
        return folder

    def model(self, name):
        return os.path.join(self.at(name), "onnx", "model.onnx")

    def step(self, name, function, *arguments, seconds=None):
        return forked(function, *arguments, seconds=seconds or self.options.limit, log=os.path.join(self.at(name), "log.txt"))

    def exported(self, name, path):
        import export
        known = os.path.join(self.at(name), "export.json")
        return read_json(known) or write_json(known, self.step(name, export.export, path, self.at(name)))

    def profiled(self, name):
        """What the starter takes and what its roofline is, as this build profiles it; also the step that takes most of it."""
        known = os.path.join(self.at(name), "profile.json")
        before = read_json(known)
        if before and before["build"] == self.build:
            return before["starter"]
        try:
            said = program(PROGRAM, "profile", self.model(name), "--json", "--threads", self.options.threads, seconds=self.options.limit)
        except Failed as error:
            raise Refused(str(error)) if error.code in REFUSALS else error
        profile = said["profile"]
        slowest = max(profile["steps"], key=lambda s: s["seconds"])
        starter = {"seconds": profile["seconds"], "floor_seconds": profile["floor_seconds"], "share_of_roofline": profile["floor_seconds"] / profile["seconds"],
                   "slowest_step": {"kind": slowest["kind"], "computes": slowest["computes"], "signature": slowest["signature"], "seconds": slowest["seconds"],
                                    "floor_seconds": slowest["floor_seconds"], "share": slowest["seconds"] / sum(s["seconds"] for s in profile["steps"])}}
        write_json(known, {"build": self.build, "starter": starter})
        return starter

    def prepared(self, name, path, row):
        """Exported and profiled into the row. False where that is as far as it goes."""
        doing = "export"
        try:
            facts = self.exported(name, path)
            row.update(random=facts["random"], exporters_failed=facts["failed"])
            if "exporter" not in facts:
                row["not_exported"] = "; ".join(f"{e}: {why}" for e, why in facts["failed"].items())
                return False
            row.update(exporter=facts["exporter"], inputs=facts["inputs"])
            doing = "profile"
            row["starter"] = self.profiled(name)
        except Refused as error:
            row["refused"] = str(error)
        except (Failed, Late) as error:
            row["failed"] = f"{doing}: {error}"
            row["late"] = isinstance(error, Late)
        return "starter" in row

    def tuned(self, name, minutes):
        """The session, and what tuning and verifying say of it."""
        session = os.path.join(self.at(name), "tuned.amdahl")
        start = time.monotonic()
        words = ["tune", self.model(name), "--session", session, "--minutes", minutes, "--threads", self.options.threads, "--json"]
        said = program(PROGRAM, *words, seconds=60 * minutes + self.options.limit)
        facts = {"minutes": (time.monotonic() - start) / 60, "experiments": len(said["experiments"]), "kept": said["outcomes"].get("kept", 0)}
        groups = said["left_to_win"]
        if groups and (seconds := sum(g["seconds"] for g in groups)):
            facts["share_of_roofline"] = sum(g["floor_seconds"] for g in groups) / seconds
        try:
            verified = program(PROGRAM, "verify", session, "--json", seconds=self.options.limit)
            facts["verified"] = {key: verified[key] for key in ("outputs_right", "holds", "error", "standing")}
        except (Failed, Late) as error:
            facts["verified"] = {"failed": str(error)[:300]}
        return session, facts

    def checked(self, name, path, subject, inputs):
        import check
        words = {"program": PROGRAM, "threads": self.options.threads, "scratch": self.at(name)}
        return self.step(name, check.check, path, subject, inputs, words)

    def turns(self, name, path, subject, row):
        """Milliseconds of every arm."""
        import export
        self.step(name, export.redraw_inputs, path, os.path.join(self.at(name), "inputs"), row["inputs"])
        arms = {form: python_arm(os.path.join(HERE, "pytorch_arm.py"), path, form) for form in self.options.arms}
        only = ["onnxruntime"] if subject == self.model(name) else ["onnxruntime", "starter"]
        rounds = budget.rounds_within(self.options.limit, row["starter"]["seconds"], 1 + len(only) + len(arms), self.options.rounds)
        words = ["--python", sys.executable, "--only", ",".join(only), "--threads", self.options.threads, "--rounds", rounds, "--limit", self.options.limit]
        words += [w for i in row["inputs"] for w in ("--input", f"{i}={os.path.join(self.at(name), 'inputs', i + '.npy')}")]
        patience = self.options.limit * (2 + len(arms))  # arms take their time before the first turn, torch.compile most of all
        document = self.step(name, lambda: compare(PROGRAM, subject, *words, arms=arms), seconds=patience)
        row["rounds"] = rounds
        row["arms"] = {label: {"failed": r["reason"]} if r["reason"] else {"ms": 1e3 * r["seconds"], "rounds": rounds_ms(r), "difference": r["difference"], "others": r["others"]}
                       for label, r in document["rows"].items()}

    def measure(self, name, path, minutes, before):
        """A row, whole as far as the problem goes. `before`: the row of one that was timed, but not checked, by this build."""
        row = {"problem": name, "build": self.build, "limit": self.options.limit}
        if before and before["build"] == self.build and "arms" in before and not minutes:
            row = {key: value for key, value in before.items() if key not in ("failed", "late")}
        if not self.prepared(name, path, row):
            return row
        subject = self.model(name)
        if minutes:
            subject, row["tuned"] = self.attempt(row, "tune", self.tuned, name, minutes) or (None, {})
        if subject:  # one that is too slow to be checked within the limit has a time all the same
            if not self.options.unchecked:
                row["check"] = self.attempt(row, "check", self.checked, name, path, subject, row["inputs"]) or {}
            if "arms" not in row:
                self.attempt(row, "turns", self.turns, name, path, subject, row)
            shutil.rmtree(os.path.join(self.at(name), "inputs"), ignore_errors=True)
        return row

    @staticmethod
    def attempt(row, doing, function, *arguments):
        """What the function gives, or None and a row that says why."""
        try:
            return function(*arguments)
        except (Failed, Late) as error:
            row["failed"] = "; ".join(filter(None, [row.get("failed"), f"{doing}: {error}"]))
            row["late"] = row.get("late", False) or isinstance(error, Late)
            return None


def progress(done, of, row):
    def ms(arm):
        return f"{row['arms'][arm]['ms']:.3g}" if "ms" in row.get("arms", {}).get(arm, {}) else "-"
    state = next((f"{key}: {row[key]}" for key in ("refused", "not_exported", "failed") if key in row), "")
    times = ", ".join(f"{arm} {ms(arm)}" for arm in row.get("arms", {}))
    print(f"[{done}/{of}] {row['problem']}: {times}{' ms; ' if times and tables.right_text(row) else ''}{tables.right_text(row) if times else ''} {state[:300]}".rstrip(),
          file=sys.stderr, flush=True)


def write_document(options, facts, rows):
    if options.json:
        write_json(options.json, {**facts, "rows": rows})


def options_of_command_line():
    parser = argparse.ArgumentParser(prog="bench/suites/kernelbench", description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", required=True, metavar="DIR")
    parser.add_argument("--levels", default="1,2,3")
    parser.add_argument("--sizes", choices=list(sources.REVISIONS), default="reduced")
    parser.add_argument("--starters", action="store_true")
    parser.add_argument("--minutes", type=float, default=60, metavar="TOTAL")
    parser.add_argument("--arms", help="of eager, compiled")
    parser.add_argument("--unchecked", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--limit", type=float, default=300, metavar="S")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", default=os.path.join(HERE, os.pardir, ".files", "kernelbench"), metavar="DIR")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.arms = ("" if options.starters else "eager,compiled") if options.arms is None else options.arms
    options.arms = [arm for arm in options.arms.split(",") if arm]
    if unknown := set(options.arms) - {"eager", "compiled"}:
        parser.error(f"--arms: no arm {', '.join(sorted(unknown))}: give some of eager,compiled")
    if options.unchecked and not options.starters:
        parser.error("--unchecked: only with --starters: a tuned plan's time without its check is no score")
    options.folder = os.path.abspath(options.folder)
    return options


def left_to_win(bench, problems, rows):
    """By name, of those that are still to be tuned: what their starters leave. The others get a row that says why they are not tuned."""
    left = {}
    for at, (name, path) in enumerate(problems, 1):
        if rows.is_done(name):
            continue
        row = {"problem": name, "build": bench.build, "limit": bench.options.limit}
        if bench.prepared(name, path, row):
            left[name] = budget.winnable(row["starter"]["seconds"], row["starter"]["floor_seconds"])
            print(f"[{at}/{len(problems)}] {name}: starter {1e3 * row['starter']['seconds']:.3g} ms", file=sys.stderr, flush=True)
        else:
            rows.add(row)
            progress(at, len(problems), row)
    return left


def run(bench, problems, rows, facts):
    options = bench.options
    left = {} if options.starters else left_to_win(bench, problems, rows)
    for at, (name, path) in enumerate(problems, 1):
        if rows.is_done(name):
            continue
        minutes = 0
        if not options.starters:
            waiting = [n for n in left if not rows.is_done(n)]
            share = dict(zip(waiting, budget.shares(max(0.0, options.minutes - rows.minutes()), [left[n] for n in waiting])))
            minutes = max(share[name], 0.1)  # a budget that is used up still gives everyone a plan
        row = bench.measure(name, path, minutes, rows.by_name.get(name))
        rows.add(row)
        progress(at, len(problems), row)
        write_document(options, facts, rows.of(problems))


def preload():
    """What every child needs, imported once."""
    import export  # noqa: F401
    import onnxscript  # noqa: F401
    import torch.onnx._internal.exporter._core  # noqa: F401


def main():
    options = options_of_command_line()
    os.makedirs(options.folder, exist_ok=True)
    try:
        commit = sources.commit_of(options.checkout, options.sizes)
    except RuntimeError as error:
        sys.exit(f"kernelbench: {error}")
    source = sources.unpack(options.checkout, commit, os.path.join(options.folder, "source"))
    facts = versions.provenance(PROGRAM, {"commit": commit, "sizes": options.sizes}, options.threads)
    problems = sources.problems(source, options.levels.split(","), options.only)
    if not problems:
        sys.exit(f"kernelbench: no problem of levels {options.levels} has {options.only!r} in its name")
    rows = kept_rows.Rows(os.path.join(options.folder, f"{options.sizes}-{'starters' if options.starters else 'tuned'}.jsonl"), options.limit, not options.unchecked)
    if not options.tables:
        preload()
        run(Bench(options, versions.build(facts["amdahl"])), problems, rows, facts)
    chosen = rows.of(problems)
    write_document(options, facts, chosen)
    print(tables.heading(facts, chosen, len(problems)) + "\n\n" + tables.document(chosen, options.starters))
    sys.exit(any("failed" in r or (r.get("check", {}).get("trials") and not tables.scores.is_right(r)) for r in chosen))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # what is done is kept
