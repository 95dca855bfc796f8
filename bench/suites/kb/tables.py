"""The rows as Markdown."""
import scores

SLOW = 1.5  # a starter that takes more than so many times ONNX Runtime's time is to be mended


def cell(text, most=160):
    return str(text).replace("|", "/").replace("\n", " ")[:most]


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)])


def number(value, form="{:.2f}"):
    return form.format(value) if value is not None else "-"


def levels_of(rows):
    levels = {}
    for row in rows:
        levels.setdefault(row["problem"].split("/")[0], []).append(row)
    return levels


def scores_table(rows, ours):
    """A row for each level and baseline, and for the same without the problems whose right answers say nothing."""
    lines = []
    for level, of_level in levels_of(rows).items():
        telling = [r for r in of_level if not scores.says_nothing(r)]
        for label, chosen in ((level, of_level), (f"{level}, telling ones", telling)):
            for base, names in scores.BASELINES.items():
                if not any(scores.baseline_ms(r, names) for r in chosen):
                    continue
                mean = scores.geometric_mean(chosen, names, ours)
                fast = [f"{scores.fast_p(chosen, names, ours, p):.2f}" for p in scores.THRESHOLDS]
                lines.append([label, str(len(chosen)), base, *fast, f"{mean[0]:.2f} ({mean[1]})" if mean else "-"])
    return table(["level", "problems", "over", *(f"fast_{p:g}" for p in scores.THRESHOLDS), "geometric mean (of)"], lines)


def share_of_roofline(row, ours):
    return row.get("tuned", {}).get("share_of_roofline") if ours == "tuned" else row.get("starter", {}).get("share_of_roofline")


def right_text(row):
    check = row.get("check", {})
    if not check.get("trials"):
        return "-"
    words = [f"{check['passed']}/{check['trials']}", f"{check['off_by']:.0e}", "" if check["right"] else "WRONG", scores.says_nothing(row)]
    return " ".join(w for w in words if w)


def problems_table(rows, ours):
    arms = ["eager", "compiled", "onnxruntime", "starter", *(["tuned"] if ours == "tuned" else [])]
    lines = []
    for row in rows:
        if "arms" not in row:
            continue
        gains = [number(scores.speedup(row, names, ours)) for names in (scores.BASELINES["better of both"], scores.BASELINES["ONNX Runtime"])]
        share = share_of_roofline(row, ours)
        lines.append([row["problem"], *(number(scores.milliseconds(row, a), "{:.3g}") for a in arms), *gains, number(share, "{:.0%}"), right_text(row)])
    head = ["problem", "eager, ms", "compiled", "ONNX Runtime", "starter", *(["tuned"] if ours == "tuned" else []), "over PyTorch", "over ONNX Runtime", "of the roofline", "right"]
    return table(head, lines)


def times_slower(row):
    """The starter's time over ONNX Runtime's."""
    own, theirs = scores.milliseconds(row, "starter"), scores.milliseconds(row, "onnxruntime")
    return own / theirs if own and theirs else None


def by_slowness(rows):
    return sorted((r for r in rows if times_slower(r)), key=times_slower, reverse=True)


def starters_table(rows):
    lines = []
    for row in by_slowness(rows):
        slow, step = times_slower(row), row.get("starter", {}).get("slowest_step", {})
        lines.append([("**" + row["problem"] + "**") if slow > SLOW else row["problem"], number(scores.milliseconds(row, "starter"), "{:.3g}"),
                      number(scores.milliseconds(row, "onnxruntime"), "{:.3g}"), f"{slow:.2f}", number(share_of_roofline(row, "starter"), "{:.0%}"),
                      cell(f"{step['kind']} {step['share']:.0%}: {step['computes']}", 90) if step else "-"])
    slow = sum(times_slower(r) > SLOW for r in rows if times_slower(r))
    return table(["problem", "starter, ms", "ONNX Runtime, ms", "times slower", "of the roofline", "slowest step"], lines) + \
        f"\n\n{slow} of {len(lines)} take more than {SLOW} times ONNX Runtime's time."


def left_out(rows):
    """What has no time, and why; wrong outputs; what exporters could not write."""
    lines = []
    for row in rows:
        for key, label in (("refused", "refused"), ("not_exported", "not exported"), ("failed", "failed")):
            if key in row:
                lines.append(f"- {row['problem']}: {label}: {cell(row[key], 600)}")
        lines += [f"- {row['problem']}: {arm}: {cell(facts['failed'], 300)}" for arm, facts in row.get("arms", {}).items() if "failed" in facts]
        check = row.get("check", {})
        if check.get("trials") and not scores.is_right(row):
            who = f", from float64 {check['off_float64']:.1e} (eager {check['eager_off_float64']:.1e})" if "off_float64" in check else ""
            lines.append(f"- {row['problem']}: {check['passed']} of {check['trials']} pass KernelBench's rule, off by {check['off_by']:.1e}{who}")
        if row.get("exporters_failed"):
            lines += [f"- {row['problem']}: written by the other exporter, since {name}: {cell(why, 200)}" for name, why in row["exporters_failed"].items() if "not_exported" not in row]
    return "\n".join(lines)


def untelling(rows):
    return "\n".join(f"- {r['problem']}: {why}" for r in rows if (why := scores.says_nothing(r)))


def heading(facts, rows, problems):
    """What and with what, in a few lines."""
    machine, builds = facts["machine"], sorted({r["build"] for r in rows})
    with_versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines = [f"KernelBench at {facts['kernelbench']['commit'][:12]} ({facts['kernelbench']['sizes']} sizes), {len(rows)} of {problems} problems; `{facts['command']}`",
             f"{facts['date']}, {machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads; amdahl {', '.join(builds)}; {with_versions}",
             "Times are medians of turns; a baseline's speed-up is its time over ours. KernelBench's harness needs CUDA: its problems, seeds and tolerances, run by us."]
    return "\n\n".join(lines)


def document(rows, starters):
    ours = "starter" if starters else "tuned"
    parts = [scores_table(rows, ours) if any(r.get("check") for r in rows) else "No answer was checked: there are no scores.", starters_table(rows) if starters else "", problems_table(rows, ours)]
    parts += ["Right answers that say little:\n\n" + untelling(rows)] if untelling(rows) else []
    parts += ["Left out, wrong, or not as the others:\n\n" + left_out(rows)] if left_out(rows) else []
    return "\n\n".join(p for p in parts if p)
