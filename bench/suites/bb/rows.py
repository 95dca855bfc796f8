"""What is known of the entries so far."""
from kept_rows import KeptRows


class Rows(KeptRows):
    """build: what the numbers depend on; a row of another build is measured again, and so is one that was late within a smaller limit."""

    def __init__(self, path, build, limit):
        super().__init__(path, "entry", "backendbench", "--out")
        self.build, self.limit = build, limit

    def is_done(self, entry):
        row = self.by_name.get(entry)
        return bool(row) and row["build"] == self.build and not (row.get("late") and self.limit > row["limit"])

    def add(self, row):
        super().add({**row, "build": self.build, "limit": self.limit})

    def of(self, entries):
        return [self.by_name[e] for e in entries if self.is_done(e)]
