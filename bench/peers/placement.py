"""How far apart the cores were, as `amdahl compare` asks before every turn. A hypervisor moves virtual CPUs under one last-level cache and apart again, for seconds
or minutes: together a cache line takes some 40 ns from one to the other, apart some 170, while two caches hold twice as much. Runtimes differ in what that does to
them."""
import statistics

APART_NS = 100  # on Zen 4 lines took 34 to 47 ns, or 157 to 182


def by_place(rounds):
    """Numbers of the rounds that were "together" or "apart" from their first turn to their last, and what a line took in them, in ns."""
    places = {"together": [i for i, r in enumerate(rounds) if r and max(r) < APART_NS], "apart": [i for i, r in enumerate(rounds) if r and min(r) >= APART_NS]}
    return {name: (at, statistics.median(ns for i in at for ns in rounds[i])) for name, at in places.items() if at}
