"""What needs PyTorch: python3 -m unittest, by a Python that has it. Sessions are of seconds: what is asked here is whether answers are right, not how fast."""
import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import Any

try:
    import torch
    from torch import nn
except ImportError as error:
    raise unittest.SkipTest("this Python has no torch") from error

import amdahl

MINUTES = 0.08


def setUpModule():
    warnings.simplefilter("error", RuntimeWarning)  # a call that goes to the original must be one that should
    if "AMDAHL_CACHE" not in os.environ:
        raise unittest.SkipTest("set AMDAHL_CACHE to a folder for tests")


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(24, 48), nn.LayerNorm(48), nn.Linear(48, 8)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x))))


def small(seed=0):
    torch.manual_seed(seed)
    return Small().eval()


def optimized(module, *example, **options):
    return amdahl.optimize(module, example if len(example) != 1 else example[0], minutes=MINUTES, progress=False, never_slower=False, **options)


class Case(unittest.TestCase):
    def assertClose(self, got, want, most=1e-5):
        self.assertEqual(got.shape, want.shape)
        self.assertEqual(got.dtype, want.dtype)
        difference = (got.double() - want.double()).norm().item() / max(want.double().norm().item(), 1e-30)
        self.assertLessEqual(difference, most)

    def assertOriginal(self, fast, words, call):
        """`call` is computed by the original, which is said once and counted."""
        before = sum(fast.calls.values())
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = call()
            call()
        self.assertEqual(sum(fast.calls.values()), before + 2)
        self.assertLessEqual(sum(words in str(w.message) for w in said), 1)
        self.assertTrue(any(words in why for why in fast.calls), fast.calls)
        return result


class OneCall(Case):
    @classmethod
    def setUpClass(cls):
        cls.module, cls.x = small(), torch.randn(4, 24)
        cls.fast = optimized(cls.module, cls.x)

    def setUp(self):
        self.fast._told.clear()

    def test_it_computes_what_the_original_does_in_new_memory_each_time(self):
        x = torch.randn(4, 24)
        kept = x.clone()
        with torch.inference_mode():
            first, second = self.fast(x), self.fast(x)
            want = self.module(x)
        self.assertClose(first, want)
        self.assertNotEqual(first.data_ptr(), second.data_ptr())
        self.assertTrue(torch.equal(x, kept))
        self.assertTrue(torch.equal(first, second))

    def test_it_runs_on_the_memory_of_the_tensors(self):
        calls = self.fast.fast_calls
        block = torch.randn(3, 4, 24)
        with torch.inference_mode():
            for i in range(3):  # views of one block, and one that is laid out otherwise
                self.assertClose(self.fast(block[i]), self.module(block[i]))
            turned = torch.randn(24, 4).t()
            self.assertClose(self.fast(turned), self.module(turned))
        self.assertEqual(self.fast.fast_calls, calls + 4)

    def test_other_shapes_and_types_go_to_the_original(self):
        with torch.no_grad():
            self.assertEqual(self.assertOriginal(self.fast, "other shapes", lambda: self.fast(torch.randn(5, 24))).shape, (5, 8))
            with self.assertRaises(RuntimeError):  # the original's own error
                self.assertOriginal(self.fast, "types", lambda: self.fast(torch.zeros(4, 24, dtype=torch.float64)))
            with self.assertRaises(TypeError):
                self.assertOriginal(self.fast, "arguments", lambda: self.fast(self.x, self.x))

    def test_a_gradient_passes_through_the_original(self):
        x = torch.randn(4, 24, requires_grad=True)
        y = self.assertOriginal(self.fast, "gradient", lambda: self.fast(x))
        y.sum().backward()
        self.assertGreater(x.grad.abs().sum().item(), 0)
        self.module.zero_grad()

    def test_autocast_threads_and_modes_are_honoured(self):
        with torch.no_grad():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                self.assertEqual(self.assertOriginal(self.fast, "autocast", lambda: self.fast(self.x)).dtype, torch.bfloat16)
            threads = torch.get_num_threads()
            if threads > 1:
                torch.set_num_threads(1)
                self.assertOriginal(self.fast, "fewer threads", lambda: self.fast(self.x))
                torch.set_num_threads(threads)
            self.fast.train()
            self.assertOriginal(self.fast, "mode", lambda: self.fast(self.x))
            self.fast.eval()
            calls = self.fast.fast_calls
            self.fast(self.x)
            self.assertEqual(self.fast.fast_calls, calls + 1)

    def test_hooks_of_the_module_itself_are_called(self):
        seen = []
        handle = self.fast.register_forward_hook(lambda module, given, out: seen.append(out.shape))
        with torch.no_grad():
            self.fast(self.x)
        handle.remove()
        self.assertEqual(seen, [(4, 8)])

    def test_threads_may_call_at_once(self):
        worst = []

        def work(seed):
            generator = torch.Generator().manual_seed(seed)
            with torch.inference_mode():
                for _ in range(200):
                    x = torch.randn(4, 24, generator=generator)
                    worst.append((self.fast(x) - self.module(x)).abs().max().item())

        workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        self.assertEqual(len(worst), 800)
        self.assertLess(max(worst), 1e-4)

    def test_the_same_call_begins_where_this_one_ended(self):
        tried = len(self.fast.report().data["experiments"])
        again = optimized(self.module, self.x)
        self.assertEqual(again.session.path, self.fast.session.path)
        self.assertEqual(len(again.report().data["experiments"]), tried)
        self.assertTrue(again.session.path.startswith(amdahl.cache_dir()))

    def test_attributes_of_the_original_are_there(self):
        self.assertIs(self.fast.first, self.module.first)
        with self.assertRaises(AttributeError):
            self.fast.no_such_thing
        self.assertGreater(self.fast.seconds, 0)
        self.assertGreater(self.fast.original_seconds, 0)

    def test_what_is_slower_is_left_to_the_original(self):
        fast = copy.deepcopy(self.fast)
        fast.leave_to_the_original("it was faster")
        with torch.no_grad():
            self.assertOriginal(fast, "it was faster", lambda: fast(self.x))

    def test_report_is_a_page_and_a_text(self):
        self.assertIn("<html", self.fast.report().html().lower())
        self.assertIn("iframe", self.fast.report()._repr_html_())
        self.assertIn("experiment", str(self.fast.report()))


class Weights(Case):
    def change_and_ask(self, change, why="weights have changed"):
        module, x = small(), torch.randn(4, 24)
        fast = optimized(module, x)
        with torch.no_grad():
            fast(x)
            calls = fast.fast_calls
            fast(x)
            self.assertEqual(fast.fast_calls, calls + 1)
            change(module)
            self.assertClose(self.assertOriginal(fast, why, lambda: fast(x)), module(x), 0)
        return fast, module, x

    def test_in_place(self):
        fast, module, x = self.change_and_ask(lambda m: m.last.weight.mul_(1.5))
        with torch.no_grad():
            fast.refresh(MINUTES)
            calls = fast.fast_calls
            self.assertClose(fast(x), module(x))
            self.assertEqual(fast.fast_calls, calls + 1)

    def test_other_memory(self):
        def change(module):
            module.last.weight.data = module.last.weight.data * 2
        self.change_and_ask(change)

    def test_another_parameter(self):
        def change(module):
            module.first.bias = nn.Parameter(torch.ones(48))
        self.change_and_ask(change, "'first.bias' is not what it was")

    def test_a_state_that_is_loaded(self):
        self.change_and_ask(lambda m: m.load_state_dict(small(1).state_dict()))

    def test_buffers(self):
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6)).eval()
        x = torch.randn(3, 6)
        fast = optimized(module, x)
        with torch.no_grad():
            module[1].running_mean.add_(1)
            self.assertClose(self.assertOriginal(fast, "weights have changed", lambda: fast(x)), module(x), 0)


@dataclass
class Pair(OrderedDict):
    """As the outputs of transformers: a dataclass that is a dictionary without those that are None."""

    left: Any = None
    right: Any = None
    nothing: Any = None

    def __post_init__(self):
        for f in fields(self):
            if getattr(self, f.name) is not None:
                self[f.name] = getattr(self, f.name)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 7), nn.Linear(6, 7)

    def forward(self, pair, scale=1.0, extra=None):
        x, (y,) = pair["x"], pair["rest"]
        total = self.a(x) * scale + self.b(y)
        if extra is not None:
            total = total + extra
        return Pair(left=total, right=(total.sum(1), [total * 2, x]))


class Structures(Case):
    def check(self, got, want):
        self.assertEqual(type(got).__name__, type(want).__name__)
        self.assertEqual(list(got), ["left", "right"])
        self.assertClose(got.left, want.left)
        self.assertClose(got["right"][0], want["right"][0])
        self.assertIsInstance(got.right[1], list)
        self.assertClose(got.right[1][0], want.right[1][0])
        self.assertClose(got.right[1][1], want.right[1][1], 0)

    def test_nested_inputs_and_outputs(self):
        module = Nested().eval()
        x, y = torch.randn(3, 5), torch.randn(3, 6)
        call = {"pair": {"x": x, "rest": (y,)}, "scale": 2.0}
        fast = amdahl.optimize(module, call, minutes=MINUTES, progress=False, never_slower=False)
        with torch.no_grad():
            calls = fast.fast_calls
            self.check(fast(**call), module(**call))
            self.assertEqual(fast.fast_calls, calls + 1)
            self.check(self.assertOriginal(fast, "arguments", lambda: fast({"x": x, "rest": (y,)}, scale=3.0)), module({"x": x, "rest": (y,)}, scale=3.0))
            with tempfile.TemporaryDirectory() as folder:
                loaded = amdahl.load(amdahl.save(fast, os.path.join(folder, "saved")))
                self.check(loaded(**call), module(**call))

    def test_keywords_in_any_order(self):
        class Two(nn.Module):
            def forward(self, a, b):
                return a - 2 * b
        module = Two().eval()
        a, b = torch.randn(4), torch.randn(4)
        fast = amdahl.optimize(module, {"a": a, "b": b}, minutes=MINUTES, progress=False, never_slower=False)
        calls = fast.fast_calls
        self.assertClose(fast(b=b, a=a), a - 2 * b)
        self.assertEqual(fast.fast_calls, calls + 1)

    def test_an_index_out_of_range_is_the_original_s_error(self):
        module = nn.Embedding(10, 4).eval()
        fast = optimized(module, torch.tensor([1, 2, 3]))
        with torch.no_grad():
            self.assertTrue(torch.equal(fast(torch.tensor([9, 0, 4])), module(torch.tensor([9, 0, 4]))))
            for bad in (10, -1):
                with warnings.catch_warnings(), self.assertRaises(IndexError):
                    warnings.simplefilter("ignore")
                    fast(torch.tensor([1, bad, 1]))


def _in_worker(fast, x, queue):
    torch.set_num_threads(2)
    with torch.inference_mode():
        queue.put(fast(x).tolist())


class Elsewhere(Case):
    @classmethod
    def setUpClass(cls):
        cls.module, cls.x = small(), torch.randn(4, 24)
        cls.fast = optimized(cls.module, cls.x)
        with torch.inference_mode():
            cls.want = cls.fast(cls.x)

    def test_a_saved_module_is_loaded_where_neither_program_nor_compiler_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = amdahl.save(self.fast, os.path.join(folder, "saved"))
            amdahl.save(self.fast, path)  # over an earlier one
            torch.save((self.x, self.want), os.path.join(folder, "case.pt"))
            moved = os.path.join(folder, "moved")
            os.rename(path, moved)
            script = ("import sys, torch, amdahl; x, want = torch.load(sys.argv[2]); fast = amdahl.load(sys.argv[1]);\n"
                      "with torch.inference_mode(): print('same', torch.equal(fast(x), want), fast.fast_calls)\n"
                      "try: fast(x[:2])\nexcept amdahl.BadInput as e: print('refused', e)")
            env = {"PATH": "/nowhere", "PYTHONPATH": os.pathsep.join(sys.path), "AMDAHL_PROGRAM": "/nowhere/amdahl"}
            done = subprocess.run([sys.executable, "-c", script, moved, os.path.join(folder, "case.pt")], capture_output=True, text=True, env=env)
            self.assertIn("same True 1", done.stdout, done.stderr)
            self.assertIn("refused the saved module cannot compute this call (other shapes)", done.stdout)
            loaded = amdahl.load(moved, original=self.module)
            with torch.no_grad():
                self.assertOriginal(loaded, "other shapes", lambda: loaded(self.x[:2]))

    def test_save_leaves_a_folder_of_somebody_else_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "thesis.txt"), "w") as file:
                file.write("years of work")
            with self.assertRaisesRegex(amdahl.BadUsage, "holds something else"):
                amdahl.save(self.fast, folder)
            self.assertEqual(os.listdir(folder), ["thesis.txt"])
        with self.assertRaises(amdahl.MachineError):
            amdahl.load("/nowhere")

    def test_copies_and_pickles(self):
        for other in (copy.deepcopy(self.fast), pickle.loads(pickle.dumps(self.fast))):
            with torch.inference_mode():
                self.assertTrue(torch.equal(other(self.x), self.want))
            self.assertEqual(other.fast_calls, 1)
            with torch.no_grad():
                other.original.last.weight.add_(1)
                self.assertOriginal(other, "weights have changed", lambda: other(self.x))
                calls = self.fast.fast_calls
                self.fast(self.x)
                self.assertEqual(self.fast.fast_calls, calls + 1)

    def in_worker(self, how):
        context = multiprocessing.get_context(how)
        queue = context.Queue()
        worker = context.Process(target=_in_worker, args=(self.fast, self.x, queue))
        worker.start()
        got = queue.get(timeout=120)
        worker.join(60)
        self.assertEqual(worker.exitcode, 0)
        self.assertEqual(got, self.want.tolist())

    def test_in_a_forked_worker(self):
        self.in_worker("fork")

    def test_in_a_spawned_worker(self):
        self.in_worker("spawn")


class Shapes(Case):
    def test_several_sizes_beside_each_other(self):
        class Mixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.mix = nn.Embedding(50, 16), nn.Linear(16, 16)

            def forward(self, ids, mask):
                x = self.words(ids) * mask[..., None]
                return self.mix(x).mean(1)
        torch.manual_seed(0)
        module = Mixed().eval()

        def call(n):
            return {"ids": torch.randint(0, 50, (1, n)), "mask": torch.ones(1, n)}
        fast = amdahl.optimize(module, call(6), minutes=2 * MINUTES, progress=False, never_slower=False, dynamic_shapes={"ids": {1: [4, 6, 9]}, "mask": {1: [4, 6, 9]}})
        self.assertEqual(sorted(shapes[0] for shapes in fast.shapes()), [(1, 4), (1, 6), (1, 9)])
        before = fast.fast_calls
        with torch.no_grad():
            for n in (4, 6, 9, 4):
                given = call(n)
                self.assertClose(fast(**given), module(**given))
            self.assertEqual(fast.fast_calls, before + 4)
            given = call(7)
            self.assertClose(self.assertOriginal(fast, "other shapes", lambda: fast(**given)), module(**given), 0)
            with tempfile.TemporaryDirectory() as folder:
                loaded = amdahl.load(amdahl.save(fast, os.path.join(folder, "saved")))
                given = call(9)
                self.assertClose(loaded(**given), module(**given))

    def test_sizes_that_make_no_sense(self):
        x = torch.randn(4, 24)
        for asked, words in (({"y": {0: [1, 2]}}, "is no argument"), (({0: [1, 2], 1: [24]},), "one length"), (({5: [1, 2]},), "no dimension 5")):
            with self.assertRaisesRegex(amdahl.BadUsage, words):
                amdahl.optimize(small(), (x,), dynamic_shapes=asked, progress=False)


class Refusals(Case):
    def test_what_cannot_be_optimized_says_why(self):
        x = torch.randn(4, 24)
        with self.assertRaisesRegex(amdahl.BadUsage, "training mode"):
            optimized(Small(), x)
        with self.assertRaisesRegex(amdahl.BadUsage, "takes a torch.nn.Module"):
            optimized(lambda x: x, x)
        with self.assertRaisesRegex(amdahl.Unsupported, "move module and inputs to the CPU"):
            optimized(small(), x, device="cuda")
        with self.assertRaisesRegex(amdahl.BadUsage, "example_inputs"):
            amdahl.optimize(small(), 3, minutes=MINUTES)

        class Sorted(nn.Module):
            def forward(self, x):
                return torch.linalg.svd(x).S
        with self.assertRaisesRegex(amdahl.ExportFailed, "by TorchScript: .*"):
            optimized(Sorted().eval(), x)

    def test_random_numbers_are_noticed(self):
        class Noisy(nn.Module):
            def forward(self, x):
                return x + torch.rand(4)
        with self.assertRaises((amdahl.NotVerified, amdahl.Unsupported)):
            optimized(Noisy().eval(), torch.zeros(4))

    def test_an_interrupted_call_goes_on(self):
        torch.manual_seed(7)
        module, x = nn.Sequential(nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 40), nn.Softmax(1)).eval(), torch.randn(8, 40)
        seen = []

        def told(event):
            seen.append(event)
            if sum(e["event"] == "experiment" for e in seen) == 2:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            amdahl.optimize(module, x, minutes=5, progress=told)
        seen.clear()
        first = []
        fast = amdahl.optimize(module, x, minutes=0.01, progress=first.append, never_slower=False)  # time is up: what was finished is there
        self.assertGreaterEqual(len(fast.report().data["experiments"]), 1)


class Compiled(Case):
    def setUp(self):
        torch._dynamo.reset()

    def compiled(self, module, **options):
        from amdahl.pytorch.backend import amdahl as backend
        self.graphs = []

        def kept(graph, inputs, **given):
            self.graphs.append(backend(graph, inputs, **given))
            return self.graphs[-1]
        return torch.compile(module, backend=kept, options={"minutes": MINUTES, "progress": False, "never_slower": False, **options})

    def test_a_graph_break(self):
        class Breaks(Small):
            def forward(self, x):
                y = torch.relu(self.first(x))
                if y.sum().item() > 1e9:
                    y = y * 2
                return self.last(self.norm(y))
        module = Breaks().eval()
        fast = self.compiled(module)
        with torch.no_grad():
            for seed in range(3):
                x = torch.randn(4, 24, generator=torch.Generator().manual_seed(seed))
                self.assertClose(fast(x), module(x))

    def test_three_shapes(self):
        module = small()
        fast = self.compiled(module)
        with torch.no_grad():
            for rows in (4, 6, 9, 4, 9):
                x = torch.randn(rows, 24)
                self.assertClose(fast(x), module(x))

    def test_weights_that_change_between_calls(self):
        module = small()
        fast = self.compiled(module)
        x = torch.randn(4, 24)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertClose(fast(x), module(x))
            module.last.weight.mul_(2)
            self.assertClose(fast(x), module(x))
            module.first.weight.data = module.first.weight.data + 1
            self.assertClose(fast(x), module(x))
            module.norm.bias = nn.Parameter(torch.ones(48))
            self.assertClose(fast(x), module(x))

    def test_gradients_are_left_to_the_graph(self):
        module = small()
        fast = self.compiled(module)
        x = torch.randn(4, 24, requires_grad=True)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fast(x).sum().backward()
        self.assertTrue(any("compiled for gradients" in str(w.message) for w in said))
        self.assertGreater(x.grad.abs().sum().item(), 0)

    def test_later(self):
        module = small(3)
        fast = self.compiled(module, mode="later")
        x = torch.randn(4, 24)
        with torch.no_grad():
            self.assertClose(fast(x), module(x))
            seen = []  # plans, as calls meet them: one that nobody has tuned, then the winners
            for thread in [t for t in threading.enumerate() if t.name == "amdahl"]:
                alive = True
                while alive:
                    alive = thread.is_alive()
                    self.assertClose(fast(x), module(x))
                    seen += [c.fast for c in self.graphs[0]._cases if c.fast and c.fast not in seen]
                    thread.join(0.05)
            self.assertEqual(len(seen), 2)
            self.assertGreater(sum(f.fast_calls for f in seen), 1)

    def test_unknown_options_are_refused(self):
        with self.assertRaisesRegex(Exception, "knows no option minuets"):
            with torch.no_grad():
                self.compiled(small(), minuets=3)(torch.randn(4, 24))


if __name__ == "__main__":
    unittest.main()
