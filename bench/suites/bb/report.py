"""The rows as Markdown."""
from bb import scores


def cell(text, most=240):
    return str(text).replace("|", "/").replace("\n", " ")[:most]


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def why(row):
    if "left_out" in row:
        return "left out: " + row["left_out"]
    if "not_served" in row:
        return "not served"
    if "failed" in row:
        return row["failed"]
    if row.get("faults"):
        return "not by the library: " + "; ".join(row["faults"])
    return "; ".join(row.get("reasons", [])[:2])


def totals_table(totals):
    lines = []
    for what in ("entries", "operators", "cases"):
        t = totals[what]
        lines.append([what, t["all"], t["claimed"], t["theirs"], t["ours"], t.get("right", "-"), t["strided"]])
    return table(["", "all", "claimed", "right by BackendBench's rule", "right by ours", "by both, and by the library alone", "by ours in other strides"], lines)


def rows_table(rows):
    lines = []
    for row in rows:
        counts = [row.get(gate, "-") for gate in ("theirs", "ours", "strided", "aten")]
        worst = f"{row['worst']:.2g}" if row.get("worst") is not None else "-"
        if row.get("strided_cases", row.get("cases")) != row.get("cases"):
            counts[2] = f"{counts[2]} of {row['strided_cases']}"
        lines.append([row["entry"], scores.state(row), row.get("cases", "-"), *counts, worst, cell(why(row))])
    return table(["entry", "", "cases", "theirs", "ours", "other strides", "aten by ours", "worst error", "why"], lines)


def heading(facts):
    suite, machine = facts["backendbench"], facts["machine"]
    with_versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    changed = "unchanged" if suite["unchanged"] else "CHANGED, or no clone of it"
    return "\n\n".join([
        f"BackendBench at {suite['commit'][:12]} ({changed}), OpInfoTestSuite on {facts['device']}, {facts['dtype']}, by its own classes, not by its command line; `{facts['command']}`",
        f"{facts['date']}, {machine['cpu']}; library {facts['build']}, {facts['compiler']}; {with_versions}",
        "Worst error: as a share of what our gate allows. aten by ours: PyTorch's own answers at the same gate."])


def summary(totals):
    o, e = totals["operators"], totals["entries"]
    return (f"{o['right']} operators right of {o['claimed']} claimed, of {o['all']}; {e['right']} entries of {e['claimed']}, of {e['all']} "
            f"(by BackendBench's rule alone {o['theirs']} and {e['theirs']}, by ours alone {o['ours']} and {e['ours']}).")


def document(facts, rows):
    totals = scores.counted(rows)
    wrong = [r for r in rows if scores.state(r) == "wrong"]
    parts = [heading(facts), summary(totals), totals_table(totals)]
    if wrong:
        parts.append("Wrong:\n\n" + "\n".join(f"- {r['entry']}: {cell(why(r), 500)}" for r in wrong))
    missing = [f"{r['entry']} ({r.get('left_out', 'not served')})" for r in rows if not scores.is_claimed(r)]
    if missing:
        parts.append("Not claimed: " + ", ".join(missing) + ".")
    return "\n\n".join([*parts, rows_table(rows)]) + "\n"
