"""What a bench of a suite knows so far, in a file that survives any end."""
import fcntl
import json
import os
import sys


class KeptRows:
    """A line an entry, in a file that is only ever added to; of two lines the later counts. `key` of a row names its entry; `option` of `bench` is the folder."""

    def __init__(self, path, key, bench, option):
        self.path, self.key, self.by_name = path, key, {}
        self.lock = open(path + ".lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.lock.close()
            sys.exit(f"{bench}: another run writes {path}: wait for it, or give another {option}")
        if os.path.exists(path):
            with open(path) as file:
                whole = [line for line in file if line.endswith("\n")]  # a kill may have cut the last one off
            self.by_name = {row[key]: row for row in map(json.loads, whole)}
            with open(path + ".part", "w") as file:
                file.writelines(whole)
            os.replace(path + ".part", path)

    def add(self, row):
        self.by_name[row[self.key]] = row
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")
