"""tune.py NAME THREADS MINUTES: one of the twelve through amdahl.optimize, and what that took; the last line of stdout is JSON."""
import json
import os
import sys
import time

import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here]
import amdahl  # noqa: E402
import twelve  # noqa: E402

name, threads, minutes = sys.argv[1:4]
torch.set_num_threads(int(threads))
module, arguments = twelve.make(name)
start = time.perf_counter()
wins = []


def told(event):
    if event["event"] == "experiment" and event["outcome"] == "kept":  # proven twice in fresh processes, and in the plan
        wins.append(time.perf_counter() - start)
        print(f"  {name}: a win after {wins[-1]:.0f} s", file=sys.stderr, flush=True)


fast = amdahl.optimize(module, arguments, minutes=float(minutes), progress=told)
seconds = time.perf_counter() - start
data = fast.report().data
facts = {"seconds": seconds, "experiments": len(data["experiments"]), "kept": data["outcomes"].get("kept", 0), "first_win": wins[0] if wins else None,
         "session": fast.session.path, "headline": data.get("headline")}
kept = os.path.join(os.path.dirname(fast.session.path), "facts.json")  # of a model that was tuned before, those are the ones that count
if not wins and os.path.exists(kept):
    with open(kept) as file:
        facts = json.load(file)
else:
    with open(kept, "w") as file:
        json.dump(facts, file)
print(json.dumps(facts))
