"""What bench/suites/kernelbench computes from its rows, on figures that are known, and its processes. Needs neither PyTorch nor KernelBench."""
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

KB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "suites", "kb")
sys.path[:0] = [KB, os.path.join(KB, os.pardir)]
import budget  # noqa: E402
import processes  # noqa: E402
import rows  # noqa: E402
import scores  # noqa: E402
import sources  # noqa: E402
import tables  # noqa: E402

RIGHT = {"passed": 5, "trials": 5, "right": True, "off_by": 1e-7, "constant": False, "zeros_pass": False}


def row(name, check=None, **ms):
    return {"problem": name, "build": "b", "check": {**RIGHT, **(check or {})}, "arms": {arm: {"ms": value} for arm, value in ms.items()},
            "starter": {"share_of_roofline": 0.5, "slowest_step": {"kind": "k", "share": 1.0, "computes": "Relu | 4"}}}


class Scores(unittest.TestCase):
    ROWS = [row("level1/1_twice", eager=4.0, compiled=2.0, onnxruntime=1.0, tuned=1.0),
            row("level1/2_equal", eager=1.0, compiled=3.0, onnxruntime=1.0, tuned=1.0),
            row("level1/3_wrong", {"passed": 4}, eager=9.0, tuned=1.0),
            row("level1/4_wrong_by_ours", {"right": False}, eager=9.0, tuned=1.0),
            {"problem": "level1/5_refused", "build": "b", "refused": "no such operator"}]

    def test_all_problems_count_and_p_must_be_exceeded(self):
        eager = scores.BASELINES["eager"]
        self.assertEqual([scores.fast_p(self.ROWS, eager, "tuned", p) for p in (0, 0.8, 1, 2, 4)], [0.4, 0.4, 0.2, 0.2, 0.0])
        self.assertEqual(scores.fast_p([], eager, "tuned", 0), 0.0)

    def test_the_better_of_both_is_the_faster_baseline(self):
        both = scores.BASELINES["better of both"]
        self.assertEqual([scores.speedup(r, both, "tuned") for r in self.ROWS[:2]], [2.0, 1.0])

    def test_means_are_of_what_is_right(self):
        mean, count = scores.geometric_mean(self.ROWS, scores.BASELINES["eager"], "tuned")
        self.assertAlmostEqual(mean, 2.0)
        self.assertEqual(count, 2)
        self.assertIsNone(scores.geometric_mean(self.ROWS[4:], scores.BASELINES["eager"], "tuned"))

    def test_a_problem_that_was_not_checked_is_not_right(self):
        unchecked = {"problem": "level1/6_", "arms": {"eager": {"ms": 9.0}, "tuned": {"ms": 1.0}}}
        self.assertEqual(scores.fast_p([unchecked], scores.BASELINES["eager"], "tuned", 0), 0.0)

    def test_answers_that_say_nothing_are_found(self):
        self.assertEqual(scores.says_nothing(row("l/1")), "")
        self.assertIn("input", scores.says_nothing(row("l/1", {"constant": True})))
        self.assertIn("zero", scores.says_nothing(row("l/1", {"constant": True, "zeros_pass": True})))
        self.assertIn("random", scores.says_nothing({**row("l/1"), "random": True}))


class Tables(unittest.TestCase):
    ROWS = [row("level1/1_fast", starter=1.0, onnxruntime=2.0), row("level2/1_slow", starter=1.6, onnxruntime=1.0), row("level1/2_bar", starter=1.5, onnxruntime=1.0)]

    def test_slowest_first_and_only_those_above_the_bar_are_marked(self):
        lines = tables.starters_table(self.ROWS).splitlines()
        self.assertEqual([line.split(" | ")[0] for line in lines[2:5]], ["| **level2/1_slow**", "| level1/2_bar", "| level1/1_fast"])
        self.assertIn("1 of 3", lines[-1])

    def test_cells_hold_no_bars(self):
        self.assertEqual(tables.starters_table(self.ROWS[:1]).splitlines()[2].count("|"), 7)

    def test_levels_and_both_kinds_of_them_have_rows(self):
        text = tables.scores_table([*self.ROWS, row("level1/3_constant", {"constant": True}, starter=1.0, onnxruntime=1.0)], "starter")
        self.assertIn("| level1 | 3 | ONNX Runtime | 1.00 | 0.67 | 0.33 |", text)
        self.assertIn("| level1, telling ones | 2 | ONNX Runtime | 1.00 | 0.50 | 0.50 |", text)

    def test_what_is_left_out_is_said_with_its_reason(self):
        text = tables.document([{"problem": "level1/9_x", "build": "b", "refused": "no Foo: none"}, row("level1/1_w", {"passed": 3, "off_by": 0.5})], True)
        self.assertIn("level1/9_x: refused: no Foo: none", text)
        self.assertIn("level1/1_w: 3 of 5 pass", text)


class Budget(unittest.TestCase):
    def test_all_of_it_goes_by_what_is_left_to_win(self):
        given = budget.shares(10, [budget.winnable(4, 1), budget.winnable(2, 1), budget.winnable(1, 1)])
        self.assertAlmostEqual(sum(given), 10)
        self.assertAlmostEqual(given[0] - given[2], 2 * (given[1] - given[2]))  # logarithms
        self.assertAlmostEqual(given[2], 10 / 3 * budget.LEAST)

    def test_nothing_known_is_shared_equally(self):
        self.assertEqual(budget.shares(10, [0.0, 0.0]), [5, 5])
        self.assertEqual(budget.shares(10, []), [])
        self.assertEqual(budget.winnable(1, 0), 0)
        self.assertEqual(budget.winnable(1, 2), 0)

    def test_turns_fit_into_the_limit(self):
        self.assertEqual(budget.rounds_within(300, 0.001, 4, 9), 9)
        self.assertEqual(budget.rounds_within(300, 2.0, 3, 9), 6)
        self.assertEqual(budget.rounds_within(10, 60.0, 3, 9), 3)
        self.assertEqual(budget.rounds_within(10, 60.0, 3, 2), 2)


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "rows.jsonl")

    def opened(self, *words):
        kept = rows.Rows(self.path, *words)
        self.addCleanup(kept.lock.close)
        return kept

    def test_what_a_kill_cut_off_is_measured_again_and_the_rest_is_not(self):
        with open(self.path, "w") as file:
            file.write(json.dumps(row("level1/1_a")) + "\n" + json.dumps(row("level1/2_b"))[:-9])
        kept = self.opened(10)
        self.assertEqual([kept.is_done(name) for name in ("level1/1_a", "level1/2_b")], [True, False])
        kept.add({**row("level1/2_b"), "tuned": {"minutes": 1.5}})
        self.assertEqual((kept.is_done("level1/2_b"), kept.minutes()), (True, 1.5))
        with open(self.path) as file:
            self.assertEqual([json.loads(line)["problem"] for line in file], ["level1/1_a", "level1/2_b"])

    def test_what_was_late_is_tried_again_within_a_greater_limit(self):
        with open(self.path, "w") as file:
            file.write(json.dumps({"problem": "level1/1_a", "late": True, "failed": "export: no end after 10 s", "limit": 10}) + "\n")
        kept = self.opened(10)
        self.assertTrue(kept.is_done("level1/1_a"))
        kept.limit = 11
        self.assertFalse(kept.is_done("level1/1_a"))

    def test_times_alone_are_checked_later(self):
        with open(self.path, "w") as file:
            file.write(json.dumps({"problem": "level1/1_a", "arms": {}, "limit": 10}) + "\n")
        kept = self.opened(10, False)
        self.assertTrue(kept.is_done("level1/1_a"))
        kept.checked = True
        self.assertFalse(kept.is_done("level1/1_a"))

    def test_two_runs_do_not_write_one_file(self):
        self.opened(10)
        with self.assertRaisesRegex(SystemExit, "another run"):
            rows.Rows(self.path, 10)


class Sources(unittest.TestCase):
    def test_problems_are_in_the_order_of_their_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "level1"))
            for name in ("10_b.py", "9_a.py", "readme.md", "x.py"):
                open(os.path.join(folder, "level1", name), "w").close()
            self.assertEqual([name for name, _ in sources.problems(folder, ["1"], "")], ["level1/9_a", "level1/10_b"])
            self.assertEqual([name for name, _ in sources.problems(folder, ["1"], "10_")], ["level1/10_b"])

    def test_a_clone_without_the_commit_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(RuntimeError, "with its history"):
                sources.commit_of(folder, "reduced")


def sleeping(file):
    with subprocess.Popen(["sleep", "60"]) as child:
        with open(file, "w") as out:
            out.write(str(child.pid))


class Processes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = os.path.join(self.folder.name, "log.txt")

    def is_gone(self, pid):
        for _ in range(500):
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                        return True
            except FileNotFoundError:
                return True
            time.sleep(0.02)
        return False

    def test_a_step_gives_its_result_or_its_reason(self):
        self.assertEqual(processes.forked(math.hypot, 3, 4, seconds=60, log=self.log), 5)
        with self.assertRaisesRegex(processes.Failed, "ValueError: math domain"):
            processes.forked(math.sqrt, -1, seconds=60, log=self.log)
        with self.assertRaisesRegex(processes.Failed, "ended with -9"):
            processes.forked(lambda: os.kill(os.getpid(), signal.SIGKILL), seconds=60, log=self.log)

    def test_a_late_step_ends_with_what_it_started(self):
        file = os.path.join(self.folder.name, "pid")
        with self.assertRaises(processes.Late):
            processes.forked(sleeping, file, seconds=1, log=self.log)
        with open(file) as pid:
            self.assertTrue(self.is_gone(int(pid.read())))

    def test_a_program_gives_json_or_its_words_and_code(self):
        said = json.dumps({"a": 1})
        self.assertEqual(processes.program("echo", said, seconds=60), {"a": 1})
        with self.assertRaises(processes.Failed) as failed:
            processes.program("sh", "-c", "echo refused >&2; exit 4", seconds=60)
        self.assertEqual((failed.exception.code, str(failed.exception)), (4, "refused"))
        with self.assertRaises(processes.Late):
            processes.program("sleep", "60", seconds=0.2)


if __name__ == "__main__":
    unittest.main()
