"""KernelBench's scores of a set of problems: fast_p is the share of all problems whose answer is right and more than p times as fast as the baseline's.

Its `score.py` takes means of 100 runs; here a time is the median of the turns. The geometric mean is over those that are right and were measured."""
import statistics

THRESHOLDS = [0, 0.8, 1, 1.5, 2]
BASELINES = {"eager": ["eager"], "compiled": ["compiled"], "better of both": ["eager", "compiled"], "ONNX Runtime": ["onnxruntime"]}


def is_right(row):
    """By both rules."""
    check = row.get("check", {})
    return bool(check.get("trials")) and check["passed"] == check["trials"] and check["right"]


def says_nothing(row):
    """Why a right answer would mean little; "" where it means something."""
    check = row.get("check", {})
    if row.get("random"):
        return "random in training mode"
    return "output near zero" if check.get("zeros_pass") else "output does not depend on the input" if check.get("constant") else ""


def milliseconds(row, arm):
    """None where it was not measured."""
    return row.get("arms", {}).get(arm, {}).get("ms")


def baseline_ms(row, names):
    """The fastest of those that were measured."""
    return min((ms for name in names if (ms := milliseconds(row, name)) is not None), default=None)


def speedup(row, names, ours):
    """How many times as fast as the baseline; None where one of both is missing."""
    base, own = baseline_ms(row, names), milliseconds(row, ours)
    return base / own if base is not None and own else None


def fast_p(rows, names, ours, p):
    """Of all the rows: one that is refused, wrong or was not measured is none that is fast. fast_0 is the share that is right."""
    fast = [r for r in rows if is_right(r) and (p == 0 or (speedup(r, names, ours) or 0) > p)]
    return len(fast) / len(rows) if rows else 0.0


def geometric_mean(rows, names, ours):
    """(mean, of how many); None where there are none."""
    gains = [s for r in rows if is_right(r) and (s := speedup(r, names, ours))]
    return (statistics.geometric_mean(gains), len(gains)) if gains else None
