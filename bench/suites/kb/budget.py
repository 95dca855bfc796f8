"""Who gets how much of one budget of tuning, and how many turns fit into a limit.

A problem's share is proportional to what is left to win there: the logarithm of its starter's time over its roofline, since scores count ratios. Nobody gets less than a
quarter of an equal share, as rooflines are guesses. Shares are drawn again before every problem, from what the ones before it left."""
import math

LEAST = 0.25  # of an equal share


def winnable(seconds, floor_seconds):
    """Natural logarithm of the speed-up that the roofline allows; 0 where the plan is there, or no roofline is known."""
    return max(0.0, math.log(seconds / floor_seconds)) if seconds > 0 and floor_seconds > 0 else 0.0


def shares(minutes, left_to_win):
    """Minutes for each of the problems that are still to be tuned."""
    count, total = len(left_to_win), sum(left_to_win)
    if count == 0:
        return []
    equal = minutes / count
    if total <= 0:
        return [equal] * count
    return [LEAST * equal + (1 - LEAST) * minutes * w / total for w in left_to_win]


# A turn is a run that warms up, 50 ms at least, and three that are timed, 0.1 s at least (docs/compare.md).
RUNS_OF_A_TURN, SECONDS_OF_A_TURN = 4, 0.15


def rounds_within(limit, seconds, arms, rounds, fewest=3):
    """Turns of each arm that end within the limit, if others are no slower than twice as slow as this one; `fewest` where even those do not."""
    turn = max(SECONDS_OF_A_TURN, 2 * RUNS_OF_A_TURN * seconds)
    return max(min(fewest, rounds), min(rounds, int(limit / (arms * turn))))
