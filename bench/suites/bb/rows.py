"""What is known of the entries so far, in a file that survives any end: a line an entry, of two the later counts."""
import fcntl
import json
import os
import sys


class Rows:
    """build: what the numbers depend on; a row of another build is measured again, and so is one that was late within a smaller limit."""

    def __init__(self, path, build, limit):
        self.path, self.build, self.limit, self.by_name = path, build, limit, {}
        self.lock = open(path + ".lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.lock.close()
            sys.exit(f"backendbench: another run writes {path}: wait for it, or give another --out")
        if os.path.exists(path):
            with open(path) as file:
                whole = [line for line in file if line.endswith("\n")]  # a kill may have cut the last one off
            self.by_name = {row["entry"]: row for row in map(json.loads, whole)}
            with open(path + ".part", "w") as file:
                file.writelines(whole)
            os.replace(path + ".part", path)

    def is_done(self, entry):
        row = self.by_name.get(entry)
        return bool(row) and row["build"] == self.build and not (row.get("late") and self.limit > row["limit"])

    def add(self, row):
        row = {**row, "build": self.build, "limit": self.limit}
        self.by_name[row["entry"]] = row
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")

    def of(self, entries):
        return [self.by_name[e] for e in entries if self.is_done(e)]
