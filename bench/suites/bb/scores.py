"""What the rows amount to. A row is an entry of BackendBench's suite: an operator (some are in it twice) with its cases."""

GATES = ("theirs", "ours", "strided")


def state(row):
    """"left out", "not served", "right" or "wrong"."""
    if "left_out" in row:
        return "left out"
    if "not_served" in row:
        return "not served"
    return "right" if is_right(row) else "wrong"


def is_right_by(row, gate):
    asked = row.get("strided_cases" if gate == "strided" else "cases", 0)  # PyTorch refuses some cases in other strides
    return "cases" in row and row.get(gate) == asked and row["cases"] > 0 and not row.get("faults")


def is_right(row):
    """By BackendBench's rule and by ours, and nothing but the library computes."""
    return is_right_by(row, "theirs") and is_right_by(row, "ours")


def operators_of(rows):
    """By operator, its rows."""
    grouped = {}
    for row in rows:
        grouped.setdefault(row["operator"], []).append(row)
    return grouped


def is_claimed(row):
    return state(row) in ("right", "wrong")


def counted(rows):
    """Entries, operators and cases: all, claimed, right by either rule and by both."""
    grouped = operators_of(rows)

    def operators(holds):
        return sum(all(map(holds, of_one)) for of_one in grouped.values())

    claimed = [r for r in rows if is_claimed(r)]
    totals = {"entries": {"all": len(rows), "claimed": len(claimed), "right": sum(map(is_right, rows))},
              "operators": {"all": len(grouped), "claimed": operators(is_claimed), "right": operators(is_right)},
              "cases": {"all": sum(r.get("cases", 0) for r in rows), "claimed": sum(r.get("cases", 0) for r in claimed)}}
    for gate in GATES:
        totals["entries"][gate] = sum(is_right_by(r, gate) for r in rows)
        totals["operators"][gate] = operators(lambda r, gate=gate: is_right_by(r, gate))
        totals["cases"][gate] = sum(r.get(gate, 0) for r in claimed)
    totals["cases"]["aten"] = sum(r.get("aten", 0) for r in claimed)
    return totals
