"""BackendBench's suite and backend, unchanged, and one of its entries judged by its rule and by ours."""
import logging
import math
import random
import sys
import time
import warnings

import torch

from bb import dispatch, gate


def load(checkout, device, dtype, seed, wanted):
    """By name, its entries: `add.Tensor`, and `add.Tensor (2)` where the suite has a second."""
    sys.path.insert(0, checkout)
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)  # threads of a pool would not be there in a forked child
    from BackendBench.suite import OpInfoTestSuite
    from BackendBench.utils import extract_operator_name
    torch.manual_seed(seed), random.seed(seed)
    named = {}
    for entry in OpInfoTestSuite("opinfo", device, getattr(torch, dtype), wanted or None):
        name = extract_operator_name(str(entry.op))
        count = sum(n.split(" ")[0] == name for n in named)
        named[f"{name} ({count + 1})" if count else name] = entry
    return named


def kernels(out):
    from BackendBench.backends import DirectoryBackend
    return DirectoryBackend(out)


def reason(case):
    return (case.error_msg.split("exc:")[-1].split("traceback:")[0].strip() or f"differs by up to {case.max_abs_error}") if not case.is_correct else ""


def answered(judge, *arguments):
    """The error, as a share of what is allowed, or None and why not."""
    try:
        return judge(*arguments), None
    except gate.Wrong as wrong:
        return None, str(wrong)
    except Exception as error:  # noqa: BLE001: whatever a kernel raises is a wrong answer
        return None, f"{type(error).__name__}: {error}"[:300]


def judged(entry, kernel, operator):
    """Runs in a process of its own."""
    from BackendBench.eval import eval_one_op
    from BackendBench.utils import serialize_args
    tests = list(entry.correctness_tests)
    begun = time.monotonic()
    row = {"cases": len(tests), "ours": 0, "strided": 0, "strided_cases": 0, "aten": 0, "worst": 0.0, "reasons": [], "faults": []}
    _, _, results, _ = eval_one_op(entry.op, kernel, tests, [])
    row["theirs"] = sum(r.is_correct for r in results)
    faults = set()
    for test, theirs in zip(tests, results):
        case = gate.Case(entry.op, operator, (tuple(test.args), dict(test.kwargs)))
        error, why = answered(case.judge, kernel)
        strided, why_strided = answered(case.judge_strided, kernel)
        row["ours"] += error is not None
        row["strided"] += strided is not None and not math.isnan(strided)
        row["strided_cases"] += strided is None or not math.isnan(strided)
        row["aten"] += answered(case.judge_once, entry.op)[0] is not None
        row["worst"] = max(row["worst"], error or 0.0)
        said = [f"{label}: {text}" for label, text in (("theirs", reason(theirs)), ("ours", why), ("in other strides", why_strided)) if text]
        if said:
            row["reasons"].append(f"{serialize_args(test.args, test.kwargs)[:160]}: {'; '.join(said)}"[:500])
        try:
            faults |= set(dispatch.computed_by(kernel, *gate.cloned(case.arguments)))
        except Exception:  # noqa: BLE001: said above
            pass
    row["reasons"] = row["reasons"][:6]
    row["seconds"] = round(time.monotonic() - begun, 1)
    row["faults"] = [f"calls {name}" for name in sorted(faults)]
    return row
