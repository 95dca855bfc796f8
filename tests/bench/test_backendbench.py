"""What bench/suites/backendbench decides and counts, on texts and figures that are known, and its gate on kernels that are wrong. Needs neither BackendBench nor the network;
what needs PyTorch is skipped without it."""
import json
import os
import shutil
import sys
import tempfile
import unittest

SUITES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "suites")
sys.path[:0] = [SUITES]
from bb import folders, operators, report, scores, text_check  # noqa: E402
from bb.rows import Rows  # noqa: E402
from bb.twice import Wrong, asked_twice  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


class Operators(unittest.TestCase):
    def test_folders_are_named_as_backendbench_names_them(self):
        for folder, operator in (("add__Tensor", "add.Tensor"), ("_softmax_backward_data__default", "_softmax_backward_data.default"), ("add___Tensor", "add_.Tensor"),
                                 ("sum__dim_IntList", "sum.dim_IntList")):
            self.assertEqual((operators.operator_of(folder), operators.folder_of(operator)), (operator, folder))

    def test_what_is_random_has_no_kernel(self):
        self.assertFalse({operators.folder_of(o) for o in operators.LEFT_OUT} & set(operators.served()))

    def test_functions_and_assigned_names_are_operators_and_helpers_are_none(self):
        self.assertEqual(operators.names_in("def a__b(x): pass\nc__default = d__Tensor = a__b\ndef helper(): pass\n__all__ = []\n"), ["a__b", "c__default", "d__Tensor"])


def text_of(body, folder="relu__default"):
    return f"import torch\n\n\ndef {folder}_kernel_impl(self):\n    {body}\n"


class Texts(unittest.TestCase):
    def faults(self, text):
        return " ".join(text_check.faults_of(text))

    def test_a_folder_that_calls_torch_relu_is_caught(self):
        self.assertIn("torch.relu", self.faults(text_of("return torch.relu(self)")))

    def test_other_ways_to_it_are_caught(self):
        for text, word in ((text_of("return self.relu()"), ".relu"),
                           (text_of("return torch.ops.aten.relu.default(self)"), "torch.ops"),
                           (text_of("return torch.Tensor.relu(self)"), "torch.Tensor.relu"),
                           (text_of("return getattr(torch, 're' + 'lu')(self)"), "getattr"),
                           (text_of("t = torch\n    return t.relu(self)"), "hands torch itself on"),
                           ("import torch.nn.functional as F\n" + text_of("return F.relu(self)"), "imports torch.nn.functional"),
                           ("from torch import relu\n" + text_of("return relu(self)"), "imports from torch"),
                           ("import numpy\n" + text_of("return self"), "imports numpy"),
                           ("import ctypes\n" + text_of("return ctypes.CDLL('libtorch_cpu.so')"), "another library"),
                           (text_of("return self.__class__"), "__class__"),
                           ("def", "is not Python")):
            self.assertIn(word, self.faults(text), text)

    def test_memory_and_shapes_are_allowed(self):
        self.assertEqual(self.faults(text_of("return torch.empty_strided(self.shape, self.stride(), dtype=self.dtype).as_strided((1,), (1,), self.storage_offset())")), "")

    def test_what_is_written_passes_and_a_planted_file_does_not(self):
        with tempfile.TemporaryDirectory() as out:
            shutil.copytree(operators.SOURCES, os.path.join(out, "amdahl_aten"), ignore=shutil.ignore_patterns("__pycache__"))
            folders.write_table(out, {("mm__default", ("torch.float32", 4, 4)): ("plans/x", "torch.float32", (4, 4))})
            self.assertEqual(folders.read_table(out), {("mm__default", ("torch.float32", 4, 4)): ("plans/x", "torch.float32", (4, 4))})
            self.assertEqual(text_check.faults_of_package(out), [])
            os.makedirs(os.path.join(out, "relu__default"))
            path = os.path.join(out, "relu__default", "relu__default_implementation")
            with open(path + "_v1.py", "w") as file:
                file.write(folders.TEXT.format(operator="relu.default", module="pointwise", folder="relu__default"))
            self.assertEqual(text_check.faults_of_folder(out, "relu__default"), [])
            with open(path + "_v0.py", "w") as file:  # BackendBench takes the first
                file.write(text_of("return torch.relu(self)"))
            self.assertEqual(len(text_check.faults_of_folder(out, "relu__default")), 1)


class Twice(unittest.TestCase):
    """With lists in the place of tensors."""

    def judged(self, kernel):
        numbers = [1, -2, 3]

        def check(answer):
            if answer != [2 * x for x in numbers]:
                raise Wrong(f"{answer}")

        def change():
            numbers[:] = [5, 7, -1]
            return True

        asked_twice(lambda: kernel(numbers), check, change, copied=list, same=lambda kept, answer: kept == answer)

    def test_a_kernel_that_computes_passes(self):
        self.judged(lambda numbers: [2 * x for x in numbers])

    def test_a_kernel_that_returns_a_cached_result_is_caught(self):
        cache = {}
        with self.assertRaisesRegex(Wrong, "other numbers at the same addresses"):
            self.judged(lambda numbers: cache.setdefault(id(numbers), [2 * x for x in numbers]))

    def test_a_kernel_whose_answers_share_memory_is_caught(self):
        kept = []

        def kernel(numbers):
            kept[:] = [2 * x for x in numbers]
            return kept

        with self.assertRaisesRegex(Wrong, "changes what the first one gave"):
            self.judged(kernel)

    def test_a_kernel_that_is_wrong_at_once_is_told_so(self):
        with self.assertRaisesRegex(Wrong, r"^\[\]$"):
            self.judged(lambda numbers: [])


def row(entry, **facts):
    return {"entry": entry, "operator": entry.split(" ")[0], "cases": 4, "theirs": 4, "ours": 4, "strided": 4, "strided_cases": 4, "aten": 4, "worst": 0.1, "faults": [], "reasons": [], **facts}


class Scores(unittest.TestCase):
    ROWS = [row("add.Tensor"), row("add.Tensor (2)", ours=3), row("mm.default"), row("relu.default", faults=["calls aten.relu.default"]), row("cos.default", strided=1, strided_cases=1),
            {"entry": "normal_.default", "operator": "normal_.default", "left_out": "random"}, {"entry": "x.default", "operator": "x.default", "not_served": True},
            {"entry": "sort.default", "operator": "sort.default", "failed": "no end after 9 s", "late": True}]

    def test_an_operator_is_right_when_all_its_entries_are_by_both_rules(self):
        totals = scores.counted(self.ROWS)
        self.assertEqual(totals["entries"], {"all": 8, "claimed": 6, "right": 3, "theirs": 4, "ours": 3, "strided": 4})
        self.assertEqual(totals["operators"], {"all": 7, "claimed": 5, "right": 2, "theirs": 3, "ours": 2, "strided": 3})

    def test_no_case_is_not_right(self):
        self.assertFalse(scores.is_right(row("a.default", cases=0, theirs=0, ours=0)))

    def test_what_another_computes_is_not_right(self):
        self.assertEqual([scores.state(r) for r in self.ROWS], ["right", "wrong", "right", "wrong", "right", "left out", "not served", "wrong"])

    def test_the_report_says_why(self):
        facts = {"backendbench": {"commit": "0" * 40, "unchanged": False}, "machine": {"cpu": "CPU"}, "versions": {"torch": "2"}, "device": "cpu", "dtype": "float32", "command": "c",
                 "date": "d", "build": "b", "compiler": "g"}
        text = report.document(facts, self.ROWS)
        self.assertIn("2 operators right of 5 claimed, of 7", text)
        self.assertIn("CHANGED", text)
        self.assertIn("normal_.default (random)", text)
        for line in ("- relu.default: not by the library: calls aten.relu.default", "- sort.default: no end after 9 s"):
            self.assertIn(line, text)
        self.assertEqual(report.rows_table([row("a.default", reasons=["a | b"], ours=1)]).splitlines()[2].count("|"), 10)


class KeptRows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "rows.jsonl")

    def opened(self, build="b", limit=10):
        kept = Rows(self.path, build, limit)
        self.addCleanup(kept.lock.close)
        return kept

    def test_what_a_kill_cut_off_is_judged_again_and_the_rest_is_not(self):
        rows = [{**row(name), "build": "b", "limit": 10} for name in ("a.default", "b.default")]
        with open(self.path, "w") as file:
            file.write(json.dumps(rows[0]) + "\n" + json.dumps(rows[1])[:-9])
        kept = self.opened()
        self.assertEqual([kept.is_done(e) for e in ("a.default", "b.default")], [True, False])
        kept.add(row("b.default"))
        with open(self.path) as file:
            self.assertEqual([json.loads(line)["entry"] for line in file], ["a.default", "b.default"])

    def test_another_build_and_a_greater_limit_are_judged_again(self):
        kept = self.opened()
        kept.add(row("a.default"))
        kept.add({"entry": "b.default", "operator": "b.default", "failed": "no end", "late": True})
        self.assertEqual([kept.is_done(e) for e in ("a.default", "b.default")], [True, True])
        kept.limit = 11
        self.assertEqual([kept.is_done(e) for e in ("a.default", "b.default")], [True, False])
        kept.build = "c"
        self.assertEqual(kept.of(["a.default", "b.default"]), [])

    def test_two_runs_do_not_write_one_file(self):
        self.opened()
        with self.assertRaisesRegex(SystemExit, "another run"):
            Rows(self.path, "b", 10)


@unittest.skipIf(torch is None, "no PyTorch")
class Gate(unittest.TestCase):
    def setUp(self):
        from bb import dispatch, gate
        self.dispatch, self.gate = dispatch, gate
        torch.manual_seed(0)

    def judge(self, op, kernel, *args, **kwargs):
        return self.gate.Case(op, str(op).removeprefix("aten."), (args, kwargs)).judge(kernel)

    def refused(self, why, op, kernel, *args, **kwargs):
        with self.assertRaisesRegex(Wrong, why):
            self.judge(op, kernel, *args, **kwargs)

    def test_pytorch_itself_passes(self):
        aten = torch.ops.aten
        x = torch.randn(5, 4, 3)
        for op, *args in ((aten.add.Tensor, x, x), (aten.sum.dim_IntList, x, [1]), (aten.max.dim, x, 0), (aten.permute.default, x, (2, 0, 1)), (aten.floor.default, x),
                          (aten.sort.default, x), (aten.equal.default, x, x), (aten.unbind.int, x)):
            self.assertLessEqual(self.judge(op, op, *args), 1)

    def test_a_kernel_that_returns_a_cached_result_is_caught(self):
        cache = {}

        def kernel(x):
            return cache.setdefault(x.data_ptr(), torch.cos(x))

        self.refused("other numbers at the same addresses", torch.ops.aten.cos.default, kernel, torch.randn(4))

    def test_a_folder_that_calls_torch_relu_is_caught_as_it_runs(self):
        def kernel(x):
            return torch.empty_like(x) if x is None else torch.relu(x)

        self.assertEqual(self.dispatch.computed_by(kernel, (torch.randn(3),), {}), ["aten.relu.default"])
        self.assertEqual(self.dispatch.computed_by(lambda x: x + x, (torch.randn(3),), {}), ["aten.add.Tensor"])
        self.assertEqual(self.dispatch.computed_by(lambda x: torch.empty_strided(x.shape, x.stride()).as_strided((1,), (1,)), (torch.randn(3),), {}), [])

    def test_wrong_answers_are_refused(self):
        aten, x = torch.ops.aten, torch.randn(6, 5)
        for why, op, kernel, *args in (
                ("off by", aten.sum.default, lambda t: t.mean(), x),
                ("off by", aten.cos.default, lambda t: torch.cos(t) * (1 + 1e-5), x),
                ("off by", aten.addmm.default, lambda c, a, b: a @ b, torch.randn(6, 6), x, x.t()),
                ("type", aten.sum.default, lambda t: t.sum(dtype=torch.float64), x),
                ("size", aten.sum.default, lambda t: t.sum().unsqueeze(0), x),
                ("strides", aten.cos.default, lambda t: torch.cos(t.t().contiguous()).t(), x),
                ("NaN", aten.log.default, lambda t: torch.log(t.abs()), x),
                ("infinities", aten.reciprocal.default, lambda t: torch.reciprocal(t).clamp(max=1e30), torch.zeros(3)),
                ("must be equal", aten.argmax.default, lambda t: torch.argmin(t), x),
                ("results", aten.max.dim, lambda t, d: (torch.max(t, d)[0],), x, 0),
                ("in the place of", aten.max.dim, lambda t, d: torch.max(t, d)[0], x, 0),
                ("changes an argument", aten.cos.default, lambda t: (torch.cos(t), t.zero_())[0], x),
                ("shares memory where", aten.clone.default, lambda t: t, x),
                ("does not share", aten.permute.default, lambda t, d: t.permute(d).clone(), x, (1, 0))):
            with self.subTest(why=why, op=str(op)):
                self.refused(why, op, kernel, *args)

    def test_arguments_that_an_operator_writes_are_judged_on_clones(self):
        op = torch.ops.aten.native_batch_norm.default
        mean, var = torch.zeros(5), torch.ones(5)
        args = (torch.randn(6, 5), None, None, mean, var, True, 0.5, 1e-5)
        self.judge(op, op, *args)
        self.assertTrue(torch.equal(mean, torch.zeros(5)))
        self.refused("off by", op, lambda x, w, b, m, v, *rest: op(x, w, b, m.clone(), v.clone(), *rest), *args)

    def test_a_sum_that_cancels_may_lose_what_its_inputs_cannot_hold(self):
        x = torch.tensor([1e8, 1.0, -1e8])
        self.assertLessEqual(self.judge(torch.ops.aten.sum.default, lambda t: t.sum(), x), 1)
        self.refused("off by", torch.ops.aten.sum.default, lambda t: t.sum() + 1000, x)

    def test_other_strides_hold_the_same_numbers(self):
        x = torch.arange(6.0).reshape(2, 3)
        wide = self.gate.spread(x)
        self.assertTrue(torch.equal(wide, x))
        self.assertEqual(wide.stride(), (2, 4))
        aten = torch.ops.aten.cos.default

        def blind(t):
            return torch.cos(t.as_strided(t.shape, (3, 1), 0))

        case = self.gate.Case(aten, "cos.default", ((x,), {}))
        case.judge(blind)
        with self.assertRaises(Wrong):
            case.judge_strided(blind)


if __name__ == "__main__":
    unittest.main()
