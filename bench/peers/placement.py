"""How far apart the cores are. A hypervisor moves virtual CPUs under one last-level cache and apart again, for seconds or minutes: together a cache line
takes some 40 ns from one to the other, apart some 170, while two caches hold twice as much. Runtimes differ in what that does to them."""
import os
import statistics
import subprocess


class Watch:
    """Asks at the beginning of every turn; a round is what lies between two calls of end_round()."""

    def __init__(self, folder, threads):
        self.program = os.path.join(folder, "amdahl-bench-core-distance") if threads > 1 else None
        self.now, self.rounds = [], []

    def look(self):
        if self.program:
            self.now.append(float(subprocess.run([self.program], check=True, capture_output=True, text=True).stdout))

    def end_round(self):
        self.look()
        self.rounds.append([ns for ns in self.now if ns > 0])
        self.now = []


APART_NS = 100  # on Zen 4 lines took 34 to 47 ns, or 157 to 182


def by_place(rounds):
    """Numbers of the rounds that were "together" or "apart" from their first turn to their last, and what a line took in them, in ns."""
    places = {"together": [i for i, r in enumerate(rounds) if r and max(r) < APART_NS], "apart": [i for i, r in enumerate(rounds) if r and min(r) >= APART_NS]}
    return {name: (at, statistics.median(ns for i in at for ns in rounds[i])) for name, at in places.items() if at}
