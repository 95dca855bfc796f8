"""A model file tuned once and set beside other runtimes: a line of figures, for benches whose models are files of their own."""
import os
import subprocess
import sys

import ratios
from comparison import compare, rounds_ms


def tune(program, model, session, minutes, *words):
    """A session that exists is as it is: to tune again, remove it."""
    if not os.path.exists(session):
        subprocess.run([program, "tune", str(model), "--session", str(session), "--minutes", str(minutes), "--quiet", *words], check=True, stdout=sys.stderr)


def tuned_beside(program, model, session, minutes, only, *words, arms=None):
    """What `amdahl compare` says of the tuned plan, its starter and the arms named in `only`."""
    tune(program, model, session, minutes, *words)
    return compare(program, str(session), "--python", sys.executable, "--only", ",".join(["starter", *only]), "--quiet", arms=arms)


def line(title, document):
    """"TITLE: tuned 1.23 ms, …; onnxruntime over ours 1.10 [1.08, 1.12]": of the fastest runtime that computes the same."""
    rows = document["rows"]
    told = ", ".join(f"{name} {1e3 * row['seconds']:.3g} ms" for name, row in rows.items() if row.get("seconds"))
    failed = "".join(f"; {name}: {row['reason']}" for name, row in rows.items() if row.get("reason"))
    ours = next(row for row in rows.values() if row["ours"] and row["arm"] != "starter")
    others = [row for row in rows.values() if not row["ours"] and row.get("seconds") and not row.get("reason")]
    best = min(others, key=lambda row: row["seconds"], default=None)
    beside = "; {} over ours {:.2f} [{:.2f}, {:.2f}]".format(best["arm"], *ratios.ratio(rounds_ms(best), rounds_ms(ours))) if best else ""
    return f"{title}: {told}{beside}{failed}"
