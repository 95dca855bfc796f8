"""A runtime under test, in a process of its own that is stopped but for its turns."""
import math
import os
import signal
import statistics
import subprocess
import tempfile

import numpy as np
import onnx

DTYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64}
# The caches belong to others when a turn begins, and threads that have rested may share a CPU for some milliseconds.
WARM_MS, TIMED_MS, MOST_RUNS = 50, 100, 400


class Arm:
    def __init__(self, label, argv, env=None):
        self.label, self.rounds, self.runs, self.run_ms = label, [], [], None
        self.argv, self.env = argv, env
        self.start()

    def start(self):
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True,
                                        env={**os.environ, **(self.env or {})})
        self.expect("ready")
        self.stop()

    def expect(self, word):
        """The words of the answer behind `word`. Raises RuntimeError with the process's last line when something else comes."""
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] != word:
            self.said.seek(0)
            raise RuntimeError((self.said.read().strip().split("\n")[-1] or f"ended with {self.process.poll()}")[:200])
        return answer[1:]

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, line, word):
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # expect() says why
        answer = self.expect(word)
        self.stop()
        return answer

    def turn(self, runs):
        """`runs` timed runs, or as many as take TIMED_MS, behind untimed ones."""
        if self.run_ms is None:
            self.run_ms = float(self.ask("run 3", "times")[-1])
        warm = min(max(1, math.ceil(WARM_MS / self.run_ms)), MOST_RUNS)
        count = max(runs, min(math.ceil(TIMED_MS / self.run_ms), MOST_RUNS))
        timed = [float(t) for t in self.ask(f"run {warm + count}", "times")[warm:]]
        self.runs += timed
        self.rounds.append(statistics.median(timed))
        self.run_ms = self.rounds[-1]

    def outputs(self, which="save"):
        """Of the last run; "reference": what the arm wants them compared with."""
        with tempfile.TemporaryDirectory() as folder:
            self.ask(f"{which} {folder}", "saved")
            return [np.load(os.path.join(folder, f"{i}.npy")) for i in range(len(os.listdir(folder)))]

    def restart(self):
        self.quit()
        self.start()

    def quit(self):
        self.process.kill()
        self.process.wait()


def write_inputs(path, folder):
    """Numbers for the inputs of an ONNX file: 0.npy, 1.npy … and names.txt."""
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
            if value.name == "bits":  # summed up, millions of them: every order of summation of zeros and ones is exact below 2^24
                a = (a > 0).astype(dtype)
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
