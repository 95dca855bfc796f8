"""How much faster one arm is than another, where the program does not say it: it holds all of them against ours."""
import math
import statistics


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
