"""Exports of tuned plans, timed beside the plans. See bench/handover/run."""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../peers"))
import ratios  # noqa: E402
from arm_process import Arm, write_inputs  # noqa: E402

FORMATS = ["cxx", "onnxruntime", "pytorch"]
ROUNDS_OF_A_PROCESS = 5
RUNTIME = "ONNX Runtime's own kernels"
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
    """The plan where it was tuned, each export, and ONNX Runtime on the model as it was."""
    threads = str(options.threads)
    env = {"OMP_NUM_THREADS": threads, "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
    inputs, model = os.path.join(folder, "inputs"), os.path.join(folder, "model.onnx")
    os.makedirs(inputs, exist_ok=True)
    with open(os.path.join(folder, "report.json"), "w") as report:
        subprocess.run([options.program, "report", session, "--json"], check=True, stdout=report)
    with open(os.path.join(folder, "report.json")) as report:
        name = json.load(report)["identity"]["model"]
    if name.startswith("builtin:"):
        subprocess.run([options.program, "models", name[len("builtin:"):], "-o", model], check=True, stdout=subprocess.DEVNULL)
    else:
        model = name
    write_inputs(model, inputs)
    arms = [Arm("plan", [options.arm, model, inputs, threads, session], env)]
    for form in FORMATS:
        at = os.path.join(folder, form)
        try:
            with open(at + ".log", "w") as log:
                export(options.program, session, form, at, log)
            arms.append(Arm(form, [sys.executable, f"{HERE}/export_arm.py", form, at, inputs], env))
        except (subprocess.CalledProcessError, RuntimeError) as error:
            failed.append(f"{folder}/{form}: {error}; see {at}.log")
    arms.append(Arm(RUNTIME, [sys.executable, f"{HERE}/../peers/onnxruntime_arm.py", model, inputs, threads, "optimised"]))
    return arms


def measure(options, session, failed):
    name = os.path.basename(session).removesuffix(".amdahl")
    folder = os.path.join(options.folder, name)
    os.makedirs(folder, exist_ok=True)
    print(f"{name}: exporting and building", file=sys.stderr, flush=True)
    arms = arms_of(options, session, folder, failed)
    for r in range(options.rounds):
        # Processes of the same code differ by several percent, for as long as they live.
        if r > 0 and r % ROUNDS_OF_A_PROCESS == 0:
            for arm in random.sample(arms, len(arms)):
                arm.restart()
        for arm in random.sample(arms, len(arms)):
            arm.turn(options.runs)
        print(f"\r{name}: round {r + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    plan = arms[0]
    want = plan.outputs()
    cells = [name, f"{statistics.median(plan.rounds):.2f}"]
    for form in FORMATS + [RUNTIME]:
        arm = next((a for a in arms if a.label == form), None)
        if arm is None:
            cells.append("failed")
            continue
        middle, low, high = ratios.ratio(arm.rounds, plan.rounds)
        error = ratios.difference(arm.outputs(), want)
        if form in FORMATS and not error <= LARGEST_DIFFERENCE:
            failed.append(f"{name}: {form}: its outputs are {error:.1e} from the plan's")
        cells.append(f"{middle:.3f} [{low:.3f}, {high:.3f}], {error:.0e}")
    for arm in arms:
        arm.quit()
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sessions", nargs="+", metavar="SESSION")
    parser.add_argument("--folder", default="handover")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--arm", required=True, help="path of amdahl-bench-arm")
    parser.add_argument("--program", required=True, help="path of amdahl")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    failed = []
    rows = [measure(options, os.path.abspath(s), failed) for s in options.sessions]
    print("Time over the plan's, median and its 95% interval, and difference from its outputs:\n")
    print("| session | plan, ms | " + " | ".join(FORMATS + [RUNTIME]) + " |\n|" + "---|" * (3 + len(FORMATS)))
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    for line in failed:
        print(line, file=sys.stderr)
    sys.exit(1 if failed else 0)


main()
