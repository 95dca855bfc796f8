"""Exports of tuned plans, timed beside the plans. See bench/handover/run."""
import argparse
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../peers"))
import ratios  # noqa: E402
from comparison import compare, copy_of, python_arm, rounds_ms  # noqa: E402

FORMATS = ["cxx", "onnxruntime", "pytorch"]
ROUNDS_OF_A_PROCESS = 5
RUNTIME = "onnxruntime"
LARGEST_DIFFERENCE = 1e-4  # of the outputs from the plan's, relative norm


def export(program, session, form, folder, log):
    """Built and self-tested in its folder; raises CalledProcessError."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run([program, "export", session, "--format", form, "-o", folder], check=True, stdout=log, stderr=log)
    at = os.path.join(folder, "python") if form == "pytorch" else folder

    def run(*argv):
        subprocess.run(argv, check=True, cwd=at, stdout=log, stderr=log)

    run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", f"-DPython3_EXECUTABLE={sys.executable}")
    run("cmake", "--build", "build")
    if form == "cxx":
        run("build/selftest", ".", "tuned")
    else:
        run(sys.executable, "selftest.py")


def arms_of(options, session, folder, failed):
    """A command for each export that could be built."""
    threads = options.threads
    env = [f"OMP_NUM_THREADS={threads}", "OMP_PROC_BIND=true", "OMP_PLACES=cores"]
    arms = {}
    for form in FORMATS:
        at = os.path.join(folder, form)
        try:
            with open(at + ".log", "w") as log:
                export(options.program, session, form, at, log)
            arms[f"export {form}"] = python_arm(f"{HERE}/export_arm.py", form, at, environment=env)
        except subprocess.CalledProcessError as error:
            failed.append(f"{folder}/{form}: {error}; see {at}.log")
    return arms


def measure(options, session, failed):
    """Processes of the same code differ by several percent, for as long as they live: all start anew every few rounds."""
    name = os.path.basename(session).removesuffix(".amdahl")
    folder = os.path.join(options.folder, name)
    os.makedirs(folder, exist_ok=True)
    print(f"{name}: exporting and building", file=sys.stderr, flush=True)
    arms = arms_of(options, session, folder, failed)
    subject = copy_of(session, folder)
    rounds, rows = {}, {}
    for start in range(0, options.rounds, ROUNDS_OF_A_PROCESS):
        print(f"{name}: rounds from {start + 1} of {options.rounds}", file=sys.stderr, flush=True)
        words = ["--python", sys.executable, "--threads", options.threads, "--rounds", min(ROUNDS_OF_A_PROCESS, options.rounds - start), "--only", RUNTIME]
        for label, row in compare(options.program, subject, *words, arms=arms)["rows"].items():
            rounds.setdefault(label, []).extend(rounds_ms(row))
            if label not in rows or not rows[label]["reason"]:
                rows[label] = row
    cells = [name, f"{statistics.median(rounds['tuned']):.2f}"]
    for label in [*(f"export {form}" for form in FORMATS), RUNTIME]:
        row = rows.get(label)
        if row is None or row["reason"]:
            cells.append("failed")
            failed += [f"{name}: {label}: {row['reason']}"] if row else []
            continue
        middle, low, high = ratios.ratio(rounds[label], rounds["tuned"])
        error = row["difference"]
        if label != RUNTIME and not error <= LARGEST_DIFFERENCE:
            failed.append(f"{name}: {label}: its outputs are {error:.1e} from the plan's")
        cells.append(f"{middle:.3f} [{low:.3f}, {high:.3f}], {error:.0e}")
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sessions", nargs="+", metavar="SESSION")
    parser.add_argument("--folder", default="handover")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--program", required=True, help="path of amdahl")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    failed = []
    rows = [measure(options, os.path.abspath(s), failed) for s in options.sessions]
    print("Time over the plan's, median and its 95% interval, and difference from its outputs:\n")
    print("| session | plan, ms | " + " | ".join([*FORMATS, "ONNX Runtime's own kernels"]) + " |\n|" + "---|" * (3 + len(FORMATS)))
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    for line in failed:
        print(line, file=sys.stderr)
    sys.exit(1 if failed else 0)


main()
