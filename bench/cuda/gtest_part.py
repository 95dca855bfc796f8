"""Tests of a program that need a card, some at a time, until the time is over: a test that was run is not run again."""
import json
import os
import re
import subprocess
import time

ENDED = re.compile(r"^\[\s+(OK|FAILED|SKIPPED)\s+\] ([^ ,]+).* \(\d+ ms\)$")
PATIENCE = 240  # seconds beyond the slice that the last tests may take


def names(program, pattern):
    lines = subprocess.run([program, "--gtest_list_tests", "--gtest_filter=" + pattern], capture_output=True, text=True, check=True).stdout.splitlines()
    suite, found = "", []
    for line in lines:
        if line.startswith("  "):
            found.append(suite + line.split()[0])
        elif line.endswith("."):
            suite = line
    return found


def rows_of(path):
    if not os.path.exists(path):
        return []
    with open(path) as table:
        return table.read().splitlines()


def run(program, pattern, out, part, seconds, at_once, table=None):
    """`table`: the variable that names the file of a table, whose rows are gathered in cuda-PART.md."""
    log, gathered, piece = os.path.join(out, part + ".log"), os.path.join(out, f"cuda-{part}.md"), os.path.join(out, part + ".piece")
    state = os.path.join(out, part + ".tests.json")
    ended = json.load(open(state)) if os.path.exists(state) else {}
    wanted, begun = names(program, pattern), time.monotonic()
    environment = dict(os.environ, **({table: piece} if table else {}))
    while time.monotonic() - begun < seconds:
        left = [n for n in wanted if n not in ended][:at_once]
        if not left:
            break
        words = ""
        try:
            words = subprocess.run([program, "--gtest_filter=" + ":".join(left)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
                                   timeout=seconds - (time.monotonic() - begun) + PATIENCE).stdout
        except subprocess.TimeoutExpired as late:
            words = (late.stdout or b"").decode(errors="replace")
            ended[next((n for n in left if "[ RUN      ] " + n in words and not re.search(r"\] " + re.escape(n) + r"\b.*ms\)", words)), left[0])] = "TIMEOUT"
        seen = {m.group(2): m.group(1) for m in map(ENDED.match, words.splitlines()) if m}
        ended.update({n: seen[n] for n in left if n in seen})
        if not any(n in ended for n in left):
            ended[left[0]] = "DIED"  # the program did, and the others are tried without it
        with open(log, "a") as f:
            f.write(words)
        with open(state, "w") as f:
            json.dump(ended, f, indent=1)
        if table and os.path.exists(piece):
            have, new = rows_of(gathered), rows_of(piece)
            with open(gathered, "w") as f:
                f.write("\n".join((have or new[:2]) + new[2:]) + "\n")
            os.remove(piece)
    results = [ended[n] for n in wanted if n in ended]
    failed = [n for n in wanted if ended.get(n) in ("FAILED", "TIMEOUT", "DIED")]
    if results.count("SKIPPED") == len(wanted):  # there is no card: none of them counts
        os.remove(state)
        return {"complete": False, "tests": len(wanted), "passed": 0, "skipped": len(wanted), "failed": 1, "names_of_failed": ["all: none was run"]}
    return {"complete": len(results) == len(wanted), "tests": len(wanted), "passed": results.count("OK"), "skipped": results.count("SKIPPED"),
            "failed": len(failed), "names_of_failed": failed}
