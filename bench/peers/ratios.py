"""How much faster one arm is than another, and whether they compute the same."""
import math
import statistics

import numpy as np


def median_with_interval(values):
    """The median and its 95% interval, by ranks: nothing is assumed of the distribution. Under six values no two ranks are that far apart, and
    the interval is all of them."""
    x, n = sorted(values), len(values)
    below, k = 0.0, 0
    while below + math.comb(n, k) / 2**n <= 0.025:
        below += math.comb(n, k) / 2**n
        k += 1
    k = max(k, 1)
    return statistics.median(x), x[k - 1], x[n - k]


def ratio(slow, fast):
    """Of times round by round."""
    return median_with_interval([s / f for s, f in zip(slow, fast)])


def fastest_tenth(runs):
    return sorted(runs)[len(runs) // 10]


def difference(got, want):
    """Largest |got - want| / |want| of lists of outputs. Infinite where one is missing, has another shape or holds what is not finite and should be."""
    if len(got) != len(want):
        return math.inf
    largest = 0.0
    for g, w in zip(got, want):
        g, w = np.asarray(g, np.float64), np.asarray(w, np.float64)
        if g.shape != w.shape or not np.array_equal(np.isfinite(g), np.isfinite(w)):
            return math.inf
        finite = np.isfinite(w)
        largest = max(largest, float(np.linalg.norm((g - w)[finite]) / max(np.linalg.norm(w[finite]), 1e-300)))
    return largest
