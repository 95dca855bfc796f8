"""`amdahl compare` as the benches ask for it: one core takes the turns, here is what they add to its command line and read of its answer."""
import json
import os
import shlex
import shutil
import subprocess
import sys


def compare(program, subject, *words, arms=None):
    """What `amdahl compare SUBJECT --json` says, rows by the names of their arms. `arms`: name to command, beside what the words ask for. Raises RuntimeError with the
    program's own words when there is nothing to compare with."""
    command = [program, "compare", subject, "--json", *map(str, words)]
    for name, arm in (arms or {}).items():
        command += ["--arm", f"{name}={arm}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().split("\n")[-1] or f"amdahl compare ended with {done.returncode}")[:300])
    document = json.loads(done.stdout)
    document["rows"] = {row["arm"]: row for row in document["arms"]}
    return document


def plan_arm(program, subject, threads, *words, inputs='"$2"'):
    """The command of one more arm of ours: the kept plan of another session, the starter plan of another model. `inputs`: a folder, instead of those of the comparison."""
    environment = ["OMP_NUM_THREADS=" + str(threads), "OMP_PROC_BIND=true", "OMP_PLACES=cores", "GOMP_SPINCOUNT=20000"]
    line = " ".join(["exec env", *environment, *map(shlex.quote, [program, "peer-arm", subject, *map(str, words)]), "--threads", str(threads), "--inputs", inputs])
    return f"sh -c {shlex.quote(line)} arm"


def python_arm(script, *words, environment=()):
    """The command of an arm that is written in Python, for this interpreter."""
    return " ".join(map(shlex.quote, ["env", *environment, sys.executable, script, *map(str, words)]))


def rounds_ms(row):
    return [1e3 * s for s in row["round_seconds"]]


def copy_of(session, folder):
    """To compare with arms that are ours too: their rows would stand in the session as runtimes of others."""
    return shutil.copy(session, os.path.join(folder, os.path.basename(session)))
