"""What is known of the problems so far, in a file that survives any end."""
import fcntl
import json
import os
import sys


class Rows:
    """A line a problem, in a file that is only ever added to; of two lines the later counts."""

    def __init__(self, path, limit, checked=True):
        self.path, self.limit, self.checked, self.by_name = path, limit, checked, {}
        self.lock = open(path + ".lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.lock.close()
            sys.exit(f"kernelbench: another run writes {path}: wait for it, or give another --folder")
        if os.path.exists(path):
            with open(path) as file:
                whole = [line for line in file if line.endswith("\n")]  # a kill may have cut the last one off
            self.by_name = {row["problem"]: row for row in map(json.loads, whole)}
            with open(path, "w") as file:
                file.writelines(whole)

    def is_done(self, name):
        row = self.by_name.get(name, {"late": True, "limit": 0})
        to_check = self.checked and "arms" in row and "check" not in row
        return not to_check and not (row.get("late") and self.limit > row["limit"])

    def add(self, row):
        self.by_name[row["problem"]] = row
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")

    def minutes(self):
        """That were spent on tuning."""
        return sum(row.get("tuned", {}).get("minutes", 0) for row in self.by_name.values())

    def of(self, problems):
        return [self.by_name[name] for name, _ in problems if name in self.by_name]
