"""Whether a plan computes what eager PyTorch computes, by two rules.

KernelBench's: torch.allclose with its tolerance for float32, on five seeds. Ours: the difference's norm over that of the output, on the same seeds; where it is above the
limit, or KernelBench's rule fails, the module in float64 says which of the two is off. An output may be right for nothing: if the first seed's output passes for all seeds under KernelBench's rule it does
not depend on the input, and if zeros pass it is near zero: both are found here, of eager PyTorch alone."""
import copy
import json
import os
import subprocess
import tempfile

import numpy as np
import torch
from problem import TOLERANCE, Problem, tensors_of, trial_seeds

LIMIT = 1e-4  # of the relative norm: what bench/peers grants plans in float32


def ours(subject, words, problem, arguments, kept):
    """The outputs of `amdahl run`, in the file's order."""
    with tempfile.TemporaryDirectory(dir=words["scratch"]) as folder:
        command = [words["program"], "run", subject, "-o", os.path.join(folder, "out"), "--json", "--threads", str(words["threads"])]
        for k, name in problem.input_names(arguments).items():
            if name in kept:
                np.save(os.path.join(folder, f"{k}.npy"), arguments[k].numpy())
                command += ["--input", f"{name}={folder}/{k}.npy"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"amdahl run ended with {done.returncode}")
        return [torch.from_numpy(np.load(o["file"])) for o in json.loads(done.stdout)["outputs"]]


def passes(got, want):
    """KernelBench's rule."""
    return len(got) == len(want) and all(g.shape == w.shape and torch.allclose(w.float(), g.float(), atol=TOLERANCE, rtol=TOLERANCE) for g, w in zip(got, want))


def off_by(got, want):
    """The norm of the difference over that of what is wanted: the worst of the outputs."""
    worst = 0.0
    for g, w in zip(got, want):
        if g.shape != w.shape or not torch.equal(torch.isfinite(g), torch.isfinite(w)):
            return float("inf")
        finite = torch.isfinite(w)
        g, w = g.double()[finite], w.double()[finite]
        worst = max(worst, float((g - w).norm() / w.norm().clamp_min(1e-300)) if not torch.equal(g, w) else 0.0)
    return worst if len(got) == len(want) else float("inf")


def in_float64(problem, arguments):
    problem.reset()
    module = copy.deepcopy(problem.module).double()
    vars(module).update({name: value.double() for name, value in vars(module).items() if isinstance(value, torch.Tensor) and value.is_floating_point()})
    return tensors_of(module(*[a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in arguments]))


def is_right_beside(own, eager, passed):
    """Of relative norms from float64. Where eager is off by a tenth the output is what rounding leaves of zero: there KernelBench's rule, which is absolute, is all there is."""
    return passed if eager > 0.1 else own <= max(LIMIT, 2 * eager)


def check(path, subject, kept, words):
    torch.set_num_threads(words["threads"])
    problem, first, result = Problem(path), None, {"passed": 0, "trials": 0, "off_by": 0.0, "constant": True, "zeros_pass": True}
    with torch.no_grad():
        for seed in trial_seeds():
            arguments = problem.arguments(seed)
            problem.reset()
            want = tensors_of(problem.module(*arguments))
            got = ours(subject, words, problem, arguments, kept)
            first = first or want
            off, passed = off_by(got, want), passes(got, want)
            if not (passed and off <= LIMIT) and "off_float64" not in result:
                exact = in_float64(problem, arguments)
                result["off_float64"], result["eager_off_float64"] = off_by(got, exact), off_by(want, exact)
            result["passed"] += passed
            result["trials"] += 1
            result["off_by"] = max(result["off_by"], off)
            result["constant"] = result["constant"] and passes(first, want)
            result["zeros_pass"] = result["zeros_pass"] and passes([torch.zeros_like(w) for w in want], want)
    result["right"] = result["off_by"] <= LIMIT or is_right_beside(result.get("off_float64", 1.0), result.get("eager_off_float64", 0.0), result["passed"] == result["trials"])
    return result
