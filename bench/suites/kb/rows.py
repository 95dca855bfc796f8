"""What is known of the problems so far."""
from kept_rows import KeptRows


class Rows(KeptRows):
    """A row that was late within a smaller limit is measured again, and so is one that is to be checked and was not."""

    def __init__(self, path, limit, checked=True):
        super().__init__(path, "problem", "kernelbench", "--folder")
        self.limit, self.checked = limit, checked

    def is_done(self, name):
        row = self.by_name.get(name, {"late": True, "limit": 0})
        to_check = self.checked and "arms" in row and "check" not in row
        return not to_check and not (row.get("late") and self.limit > row["limit"])

    def minutes(self):
        """That were spent on tuning."""
        return sum(row.get("tuned", {}).get("minutes", 0) for row in self.by_name.values())

    def of(self, problems):
        return [self.by_name[name] for name, _ in problems if name in self.by_name]
