"""Interleaved comparison of runtimes on whole models; bench/peers/run starts it.

Arms take turns in random order; all but the running one are stopped. A turn is one warm-up run and a few timed ones, its figure
their median. Reported: the median over rounds, the median and range of the ratio to ONNX Runtime round by round, and the time that a
tenth of all runs did not exceed: what the arm takes in the machine's quiet moments, the same for all arms given enough rounds."""
import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ["gpt2", "bert-base", "llama-160m", "resnet50", "mobilenet-v2", "vit-b16"]
DTYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64}


class Arm:
    def __init__(self, label, argv, env=None):
        self.label, self.rounds, self.runs = label, [], []
        self.argv, self.env = argv, env
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(self.env or {})})
        if not self.process.stdout.readline().startswith("ready"):
            raise RuntimeError(self.process.stderr.read().strip().split("\n")[-1])
        self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, line):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        self.stop()
        return answer

    def turn(self, runs):
        timed = [float(t) for t in self.ask(f"run {runs + 1}")[2:]]
        self.runs += timed
        self.rounds.append(statistics.median(timed))

    def outputs(self):
        with tempfile.TemporaryDirectory() as folder:
            self.ask(f"save {folder}")
            return [np.load(os.path.join(folder, f"{i}.npy")) for i in range(len(os.listdir(folder)))]

    def restart(self):
        self.quit()
        self.start()

    def quit(self):
        self.process.kill()
        self.process.wait()


def write_inputs(path, folder):
    graph = onnx.load(path, load_external_data=False).graph
    rng = np.random.default_rng(5)
    names = []
    weights = {t.name for t in graph.initializer}
    for value in graph.input:
        if value.name in weights:
            continue
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        dtype = DTYPES[value.type.tensor_type.elem_type]
        if np.issubdtype(dtype, np.floating):
            a = rng.standard_normal(shape).astype(dtype)
        elif "mask" in value.name:
            a = np.ones(shape, dtype)
        elif "type" in value.name:
            a = np.zeros(shape, dtype)
        else:
            a = rng.integers(0, 1000, shape).astype(dtype)
        np.save(os.path.join(folder, f"{len(names)}.npy"), a)
        names.append(value.name)
    with open(os.path.join(folder, "names.txt"), "w") as out:
        out.write("".join(n + "\n" for n in names))


def relative_norm(got, want):
    got, want = got.astype(np.float64).ravel(), want.astype(np.float64).ravel()
    return float(np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-300))


def quiet(arm):
    return sorted(arm.runs)[len(arm.runs) // 10]


def has_bf16():
    """Whether this CPU multiplies bfloat16; where it does not, PyTorch takes minutes a run to imitate it."""
    with open("/proc/cpuinfo") as info:
        return bool({"avx512_bf16", "amx_bf16", "bf16"} & set(info.read().split()))


def measure(label, onnx_file, torch_name, sessions, options, folder):
    inputs = os.path.join(folder, "inputs")
    os.makedirs(inputs, exist_ok=True)
    write_inputs(onnx_file, inputs)
    py, threads = sys.executable, str(options.threads)
    precisions = ("f32", "bf16") if has_bf16() else ("f32",)
    wanted = [("starter", [options.arm, onnx_file, inputs, threads]),
              ("onnxruntime", [py, f"{HERE}/onnxruntime_arm.py", onnx_file, inputs, threads, "optimised"]),
              ("onnxruntime plain", [py, f"{HERE}/onnxruntime_arm.py", onnx_file, inputs, threads, "plain"])]
    for at, (name, file) in enumerate(sessions.items()):
        wanted.insert(1 + at, (name, [options.arm, onnx_file, inputs, threads, file]))
    wanted += [(f"openvino {p}", [py, f"{HERE}/openvino_arm.py", onnx_file, inputs, threads, p]) for p in precisions]
    if torch_name and not options.no_torch:
        wanted += [(f"pytorch {form} {p}", [py, f"{HERE}/torch_arm.py", torch_name, inputs, threads, form, p])
                   for form in ("eager", "compiled") for p in precisions]
    if options.only:
        wanted = [w for w in wanted if w[0] == "onnxruntime" or w[0] in options.only.split(",")]
    arms = []
    env = {"OMP_NUM_THREADS": threads, "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
    for name, argv in wanted:
        try:
            print(f"\r  {label}: starting {name}" + 20 * " ", end="", file=sys.stderr, flush=True)
            arms.append(Arm(name, argv, {} if name.startswith(("onnxruntime", "openvino")) else env))
        except RuntimeError as error:
            print(f"  {name}: not measured: {error}", file=sys.stderr)
    for r in range(options.rounds):
        order = arms[:]
        random.shuffle(order)
        for arm in order:
            arm.turn(options.runs)
        print(f"\r  {label}: round {r + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    base = next(a for a in arms if a.label == "onnxruntime")
    want = base.outputs()
    rows = {}
    for arm in arms:
        ratio = sorted(b / a for a, b in zip(arm.rounds, base.rounds))
        row = {"ms": statistics.median(arm.rounds), "over_onnxruntime": statistics.median(ratio), "quiet_ms": quiet(arm),
               "low": ratio[len(ratio) // 10], "high": ratio[-1 - len(ratio) // 10]}
        if not arm.label.startswith("pytorch"):  # whose weights are other random numbers
            row["error"] = max(relative_norm(g, w) for g, w in zip(arm.outputs(), want))
        rows[arm.label] = row
        arm.quit()
    return rows


def print_table(results):
    """One table a model: arms in the order of their speed."""
    for model, rows in results.items():
        base_quiet = rows["onnxruntime"]["quiet_ms"]
        print(f"\n{model}\n\n| | ms | over onnxruntime (over rounds) | fastest tenth, ms | over onnxruntime's | difference from its outputs |\n|---|---|---|---|---|---|")
        for label, row in sorted(rows.items(), key=lambda r: r[1]["ms"]):
            error = f"{row['error']:.1e}" if "error" in row else "-"
            print(f"| {label} | {row['ms']:.2f} | {row['over_onnxruntime']:.2f} ({row['low']:.2f} .. {row['high']:.2f}) | "
                  f"{row['quiet_ms']:.2f} | {base_quiet / row['quiet_ms']:.2f} | {error} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=MODELS, help="shipped names or .onnx files (default: all six)")
    parser.add_argument("--sessions", help="folder with NAME.amdahl, and NAME.bf16.amdahl where bf16 was allowed; adds the arms 'tuned' and 'tuned bf16'")
    parser.add_argument("--only", help="arms to run, separated by commas (ONNX Runtime always runs)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--arm", required=True, help="path of amdahl-bench-arm")
    parser.add_argument("--program", required=True, help="path of amdahl")
    options = parser.parse_args()
    results = {}
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            shipped = not model.endswith(".onnx")
            path = os.path.join(folder, "model.onnx") if shipped else model
            if shipped:
                subprocess.run([options.program, "models", model, "-o", path], check=True, stdout=subprocess.DEVNULL)
            label = model if shipped else (os.path.basename(os.path.dirname(os.path.abspath(model))) + "/" + os.path.basename(model))
            stem = model if shipped else os.path.basename(os.path.dirname(os.path.abspath(model)))
            sessions = {}
            for name, suffix in (("tuned", ""), ("tuned bf16", ".bf16")):
                file = os.path.join(options.sessions or "", f"{stem}{suffix}.amdahl")
                if options.sessions and os.path.exists(file):
                    sessions[name] = file
                elif options.sessions:
                    print(f"  {label}: no session {file}", file=sys.stderr)
            results[label] = measure(label, path, model if shipped else None, sessions, options, folder)
    print_table(results)
    if options.json:
        json.dump(results, open(options.json, "w"), indent=1)


if __name__ == "__main__":
    main()
