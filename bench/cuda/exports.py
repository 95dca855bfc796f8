"""Exports of sessions on a card, built, self-tested and timed beside the plans they came from: exports.py --program DIR/amdahl --out DIR SESSION.amdahl …

By an interpreter that has PyTorch with CUDA; a C++ compiler and CMake are needed, no CUDA. Of each session every format that packages a card's kernels is written to
DIR/NAME/FORMAT, built there, and tests itself; then each is an arm (export_arm.py) that takes turns with the kept plan: a replay of its CUDA graph, and for the formats
of PyTorch a call of the module too. All processes start anew every few rounds, as those of the same code differ for as long as they live.

DIR/exports.json, or --json: by session and arm the median in us, and the time over the plan's (median, and its 95% interval). Sessions that it holds are not
measured again; nothing begins after --minutes. Exit status 1: a self-test failed, an arm could not be measured, or a graph takes more than --at-most of the plan's."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "peers"))
import ratios  # noqa: E402
from comparison import compare, copy_of, python_arm, rounds_ms  # noqa: E402

CMAKE = [["cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release"], ["cmake", "--build", "build"]]
# Where its commands run, these, and the ways that it is called in.
FORMATS = {
    "cxx": (".", [*CMAKE, ["./build/selftest", "."]], ["graph"]),
    "pytorch": ("python", [*CMAKE, [sys.executable, "selftest.py"]], ["graph", "calls"]),
    "hf-kernels": (".", [[sys.executable, "selftest.py"]], ["graph", "calls"]),
}
ROUNDS_OF_A_PROCESS = 5


def export(options, session, form, folder):
    """Written, built and self-tested. Returns what the self-test printed, or raises CalledProcessError; all words are in FOLDER.log."""
    at, commands, _ = FORMATS[form]
    os.makedirs(folder, exist_ok=True)
    said = ""
    with open(folder + ".log", "w") as log:
        for number, command in enumerate([[options.program, "export", session, "--format", form, "-o", folder, "--device", options.device], *commands]):
            done = subprocess.run(command, cwd=os.path.join(folder, at) if number else None, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            said = done.stdout
            log.write(f"$ {' '.join(command)}\n{said}\n")
            if done.returncode:
                raise subprocess.CalledProcessError(done.returncode, command)
    return said.strip().split("\n")


def rows_of_arms(options, session, arms):
    """Rounds in us of the plan ("tuned") and of each arm, and reasons of arms without."""
    rounds, reasons = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        subject = copy_of(session, folder)
        for start in range(0, options.rounds, ROUNDS_OF_A_PROCESS):
            words = ["--device", options.device, "--rounds", min(ROUNDS_OF_A_PROCESS, options.rounds - start), "--only", "starter"]
            for label, row in compare(options.program, subject, *words, arms=arms)["rows"].items():
                if row["reason"]:
                    reasons[label] = row["reason"]
                else:
                    rounds.setdefault(label, []).extend(1e3 * ms for ms in rounds_ms(row))
    return rounds, reasons


def measure(options, session):
    name = os.path.basename(session)[:-len(".amdahl")]
    result, arms = {"formats": {}, "arms": {}}, {}
    for form, (_, _, ways) in FORMATS.items():
        folder = os.path.join(options.out, name, form)
        print(f"{name}: {form}", file=sys.stderr, flush=True)
        try:
            result["formats"][form] = {"self_test": export(options, session, form, folder)}
        except (OSError, subprocess.CalledProcessError) as error:
            result["formats"][form] = {"failed": f"{error}; see {folder}.log"}
            continue
        for way in ways:
            arms[f"{form} {way}"] = python_arm(os.path.join(HERE, "export_arm.py"), form, folder, way)
    if not arms:
        return result
    print(f"{name}: measuring", file=sys.stderr, flush=True)
    rounds, reasons = rows_of_arms(options, session, arms)
    for label, times in rounds.items():
        result["arms"][label] = {"us": statistics.median(times), "rounds_us": times}
        if label in arms and len(times) == len(rounds["tuned"]):
            middle, low, high = ratios.ratio(times, rounds["tuned"])
            result["arms"][label]["over_plan"] = {"ratio": middle, "low": low, "high": high}
    for label in set(reasons) & set(arms):
        result["arms"][label] = {**result["arms"].get(label, {}), "failed": reasons[label]}
    return result


def failures(name, result, at_most):
    """A line each."""
    lines = [f"{name}: {form}: {row['failed']}" for form, row in result["formats"].items() if "failed" in row]
    lines += [f"{name}: {label}: {row['failed']}" for label, row in result["arms"].items() if "failed" in row]
    for label, row in result["arms"].items():
        if label.endswith(" graph") and row.get("over_plan", {}).get("ratio", 0) > at_most:
            lines.append(f"{name}: {label} takes {row['over_plan']['ratio']:.3f} of the plan's time")
    return lines


def print_rows(name, result):
    print(f"\n{name}")
    for label, row in result["arms"].items():
        over = row.get("over_plan")
        print(f"  {label:<18} " + (f"{row['us']:9.1f} us" if "us" in row else "   failed") +
              (f"   {over['ratio']:.3f} [{over['low']:.3f}, {over['high']:.3f}] of the plan's time" if over else ""))
    sys.stdout.flush()


def options_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", nargs="+", metavar="SESSION")
    parser.add_argument("--program", required=True, help="path of amdahl")
    parser.add_argument("--out", default="cuda-exports")
    parser.add_argument("--json", help="default: exports.json in --out")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--at-most", type=float, default=1.03, help="of the plan's time, a graph of an export")
    o = parser.parse_args()
    o.program, o.out = os.path.abspath(o.program), os.path.abspath(o.out)
    o.json = o.json or os.path.join(o.out, "exports.json")
    return o


def main():
    options = options_of_command_line()
    os.makedirs(options.out, exist_ok=True)
    results = {"bench": "bench/cuda/exports.py", "date": time.strftime("%Y-%m-%d"), "python": sys.version.split()[0], "sessions": {}}
    if os.path.exists(options.json):
        with open(options.json) as file:
            results["sessions"] = json.load(file)["sessions"]
    begun, failed = time.monotonic(), []
    for session in map(os.path.abspath, options.sessions):
        name = os.path.basename(session)[:-len(".amdahl")]
        if name not in results["sessions"]:
            if time.monotonic() - begun > 60 * options.minutes:
                continue
            try:
                results["sessions"][name] = measure(options, session)
            except (RuntimeError, OSError) as error:
                results["sessions"][name] = {"formats": {}, "arms": {"all": {"failed": str(error)}}}
            with open(options.json, "w") as file:
                json.dump(results, file, indent=1)
        print_rows(name, results["sessions"][name])
        failed += failures(name, results["sessions"][name], options.at_most)
    for line in failed:
        print(line, file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
