"""What a session on a card survives: faults.py --programs DIR [--out DIR] [--device cuda] [--minutes N] [--kills N] [--workers N]

A session of builtin:gpt2-mini@fp16 is tuned and killed (SIGKILL) at random moments, and resumed each time: its database is intact, no experiment that was
finished is lost, changed or done again, no process is left behind, and at last it ends properly. Then its workers are killed while it tunes, also amid a
kernel: the run goes on, and no candidate is blamed. Then kernels that fault, hang and take all memory are judged (cuda_exploits_test). The card's settings
are read before and after. What was done is kept in DIR/faults.json: the same command goes on from there."""
import argparse
import ctypes
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import gtest_part  # noqa: E402
from programs import find_program  # noqa: E402

MODEL = "builtin:gpt2-mini@fp16"
SETTINGS = ["persistence_mode", "compute_mode", "power.limit", "clocks.applications.graphics", "clocks.applications.memory", "clocks.max.graphics",
            "mig.mode.current", "ecc.mode.current"]
FAULTING = ":".join(f"*OnCard*/{n}*" for n in ("00d", "00e", "00f", "00g", "05", "06b", "14a", "15a", "25a", "25b", "26a", "26b", "43e"))
GONE = 20  # seconds that processes may take to end after the program was killed


def settings():
    try:
        query = ["nvidia-smi", "--query-gpu=" + ",".join(SETTINGS), "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None


class Fault(Exception):
    pass


class Session:
    def __init__(self, options):
        self.program, self.device = find_program(options.programs, "amdahl"), options.device
        self.file, self.log = os.path.join(options.out, "faults.amdahl"), os.path.join(options.out, "faults.log")

    def start(self, *more):
        first = ["tune", MODEL, "--device", self.device, "--session", self.file] if not os.path.exists(self.file) else ["resume", self.file]
        with open(self.log, "a") as log:
            return subprocess.Popen([self.program, *first, "--quiet", "--no-wisdom", *more], stdout=log, stderr=log)

    def finish(self, experiments):
        status = self.start("--experiments", str(experiments)).wait(300)
        if status != 0:
            raise Fault(f"the program ended with status {status}: see {self.log}")

    def experiments(self):
        """By number: what was tried."""
        if not os.path.exists(self.file):
            return {}
        database = sqlite3.connect(self.file)
        try:
            if database.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                raise Fault("the database is damaged")
            rows = database.execute("SELECT id, window, candidate, outcome, document FROM experiments ORDER BY id").fetchall()
        finally:
            database.close()
        if [r[0] for r in rows] != list(range(1, len(rows) + 1)):
            raise Fault(f"experiments have numbers {[r[0] for r in rows]}")
        return {r[0]: r[1:] for r in rows}


def wait_until_gone():
    """What a killed program leaves behind is this process's child."""
    end = time.monotonic() + GONE
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.02)
        except ChildProcessError:
            return
    raise Fault(f"a process outlives the program by {GONE} s")


def require_grown(before, now):
    for number, tried in before.items():
        if number not in now:
            raise Fault(f"experiment {number} was lost")
        if now[number][:2] != tried[:2]:
            raise Fault(f"experiment {number} is another than before")


def kill_once(session, state):
    before = session.experiments()
    running = session.start()
    time.sleep(random.uniform(0.2, 6))
    if running.poll() is not None and running.returncode != 0:
        raise Fault(f"the program ended by itself with status {running.returncode}: see {session.log}")
    running.kill()
    running.wait()
    wait_until_gone()
    now = session.experiments()
    require_grown(before, now)
    state["kills"] += 1
    state["experiments"] = len(now)


def workers_of(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children") as f:
                found += [int(child) for child in f.read().split()]
        except OSError:
            pass
    return [p for p in found if program_of(p) == "amdahl-worker"]


def program_of(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def kill_workers(session, state, count):
    """A candidate whose worker is killed three times in a row ends as killed; one kill a second is never that."""
    before = session.experiments()
    running = session.start("--experiments", str(len(before) + 12))
    killed = 0
    while running.poll() is None and killed < count:
        time.sleep(random.uniform(0.7, 1.5))
        workers = workers_of(running.pid) if running.poll() is None else []
        if workers:
            os.kill(random.choice(workers), signal.SIGKILL)
            killed += 1
    status = running.wait(300)
    if status != 0:
        raise Fault(f"the program ended with status {status} when its workers were killed: see {session.log}")
    wait_until_gone()
    now = session.experiments()
    require_grown(before, now)
    blamed = [n for n in now if n not in before and json.loads(now[n][3]).get("code") == "killed"]
    if blamed:
        raise Fault(f"experiments {blamed} ended as killed")
    state["workers"] += killed


def read_state(path):
    if os.path.exists(path):
        with open(path) as f:
            return json.load(f)
    return {"complete": False, "failed": 0, "faults": [], "kills": 0, "workers": 0, "experiments": 0, "ended": False, "kernels": {}, "settings": settings()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--out", default="cuda-results")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--workers", type=int, default=10)
    o = parser.parse_args()
    os.makedirs(o.out, exist_ok=True)
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    file, begun = os.path.join(o.out, "faults.json"), time.monotonic()
    state, session = read_state(file), Session(o)

    def left():
        return 60 * o.minutes - (time.monotonic() - begun)

    try:
        if not session.experiments():
            session.finish(2)  # ceilings are measured once
        while state["kills"] < o.kills and left() > 0:
            kill_once(session, state)
        if state["kills"] >= o.kills and state["experiments"] <= 2:
            raise Fault("no run came to an experiment before it was killed")
        while state["kills"] >= o.kills and state["workers"] < o.workers and left() > 0:
            kill_workers(session, state, o.workers - state["workers"])
        if state["workers"] >= o.workers and not state["ended"] and left() > 0:
            session.finish(len(session.experiments()) + 4)
            state["ended"] = True
        if state["ended"] and left() > 0:
            state["kernels"] = gtest_part.run(find_program(o.programs, "cuda_exploits_test"), FAULTING, o.out, "faulting-kernels", left(), at_once=20)
            if state["kernels"]["failed"]:
                raise Fault(f"kernels that fault: {state['kernels']['names_of_failed']}")
        now = settings()
        if now != state["settings"]:
            raise Fault(f"the card's settings were '{state['settings']}' and are '{now}'")
    except (Fault, subprocess.TimeoutExpired) as fault:
        state["faults"].append(str(fault))
    state["failed"] = len(state["faults"])
    state["complete"] = bool(state["kernels"].get("complete"))
    with open(file, "w") as f:
        json.dump(state, f, indent=1)
    for fault in state["faults"]:
        print("faults:", fault, file=sys.stderr)
    return 1 if state["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
