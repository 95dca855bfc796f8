"""Runs a program to its end: what it printed, how long it took, how much memory it and all its children had at most."""
import os
import re
import subprocess
import threading
import time


class PeakMemory:
    """Largest sum of proportional set sizes of a process and all its descendants, sampled twice a second, in MiB."""

    def __init__(self, pid):
        self.pid, self.peak, self.done = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def family(self):
        children = {}
        for p in filter(str.isdigit, os.listdir("/proc")):
            try:
                children.setdefault(int(open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[1]), []).append(int(p))
            except (OSError, IndexError):
                pass
        found, queue = [], [self.pid]
        while queue:
            p = queue.pop()
            found.append(p)
            queue += children.get(p, [])
        return found

    def watch(self):
        while not self.done.wait(0.5):
            total = 0
            for p in self.family():
                try:
                    total += int(re.search(r"^Pss:\s+(\d+)", open(f"/proc/{p}/smaps_rollup").read(), re.M)[1])
                except (OSError, TypeError):
                    pass
            self.peak = max(self.peak, total / 1024)

    def stop(self):
        self.done.set()
        self.thread.join()
        return self.peak


def command(argv, cwd=None):
    start = time.monotonic()
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
    memory = PeakMemory(process.pid)
    out, err = process.communicate()
    peak = memory.stop()
    if process.returncode:
        raise RuntimeError(f"{' '.join(argv)}: exit {process.returncode}: {err.strip()[-400:]} {out.strip()[-400:]}")
    return out, time.monotonic() - start, peak
