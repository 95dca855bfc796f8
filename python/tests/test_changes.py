"""What a plan was made of and is no more, or never was: the original must compute. A stranger's trials of the package, as tests. Needs PyTorch."""
import os
import shutil
import signal
import sys
import tempfile
import threading
import unittest
import warnings
from collections import namedtuple

from test_with_torch import MINUTES, Case, optimized, small  # first: skips all where there is no torch

import torch
from torch import nn

import amdahl
from amdahl.pytorch.backend import amdahl as backend

torch.set_num_threads(2)
One, Two = namedtuple("One", "a b"), namedtuple("Two", "b a")


def head(m):
    m.last = nn.Linear(48, 8)


def without_bias(m):
    m.last.bias = None


def scaled_by_parametrization(m):
    nn.utils.parametrizations.weight_norm(m.last)
    m.last.parametrizations.weight.original0.mul_(2)


def into_the_dictionary(m):
    m.last._parameters["weight"] = nn.Parameter(torch.ones(8, 48))
    m.last.bias = m.last.bias  # the dictionary tells nobody; whatever tells has all be looked at


def other_forward(m):
    m.forward = lambda x: x[:, :8] * 3


def hooked(m):
    m.last.register_forward_hook(lambda part, given, out: out + 1)


def fused_step(m):
    for p in m.parameters():
        p.grad = torch.ones_like(p)
    torch.optim.SGD(m.parameters(), lr=0.1, fused=True).step()


class Changes(Case):
    def changed(self, change, fast=None, module=None):
        module = module or small()
        x = torch.randn(4, 24)
        fast = fast or optimized(module, x)
        with torch.no_grad():
            fast(x)
            self.assertEqual(fast.fast_calls, 1)
            change(module)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = fast(x)
            self.assertEqual(fast.fast_calls, 1)
            self.assertTrue(torch.equal(got, module(x)))
        return fast, module, x

    def test_parts_and_what_they_hold(self):
        for change in (head, without_bias, scaled_by_parametrization, into_the_dictionary, other_forward, hooked, fused_step):
            with self.subTest(change.__name__):
                self.changed(change)

    def test_a_parameter_that_is_gone(self):
        module, x = small(), torch.randn(4, 24)
        fast = optimized(module, x)
        del module.last.bias
        with torch.no_grad(), warnings.catch_warnings(), self.assertRaises(AttributeError):
            warnings.simplefilter("ignore")
            fast(x)

    def test_a_plain_attribute(self):
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale, self.table, self.part = 2.0, torch.ones(24), nn.Linear(24, 24)

            def forward(self, x):
                return self.part(x) * self.scale + self.table

        def number(m):
            m.scale = 5.0

        def tensor(m):
            m.table.fill_(7)

        def other_tensor(m):
            m.table = torch.zeros(24)
        for change in (number, tensor, other_tensor):
            with self.subTest(change.__name__):
                self.changed(change, module=Scaled().eval())

    def test_training_mode_of_a_part_and_back(self):
        class Dropped(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.5)

            def forward(self, x):
                return self.drop(x) + x

        module, x = Dropped().eval(), torch.ones(8, 64)
        fast = optimized(module, x)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module.drop.train()
            self.assertFalse(torch.equal(fast(x), fast(x)))
            self.assertEqual(fast.fast_calls, 0)
            module.eval()
            fast(x)
            self.assertEqual(fast.fast_calls, 1)

    def test_buffers_that_are_converted(self):
        class Buffered(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("b", torch.rand(24))

            def forward(self, x):
                return x * self.b
        self.changed(lambda m: m._apply(lambda t: t * 2), module=Buffered().eval())

    def test_what_changes_while_it_is_tuned(self):
        module = small(11)

        def told(event):
            with torch.no_grad():
                module.last.weight.mul_(1.0005)
        with self.assertRaisesRegex(amdahl.AmdahlError, "weights changed while it was tuned"):
            amdahl.optimize(module, torch.randn(4, 24), minutes=MINUTES, progress=told)

    def test_verify_and_save_say_what_changed(self):
        fast, module, x = self.changed(lambda m: m.last.weight.mul_(3))
        with self.assertRaisesRegex(amdahl.NotVerified, "have changed since it was tuned"):
            fast.verify()
        with self.assertRaisesRegex(amdahl.BadUsage, "refresh"):
            amdahl.save(fast, os.path.join(tempfile.mkdtemp(), "saved"))

    def test_parameters_for_one_call(self):
        module, x = small(), torch.randn(4, 24)
        fast = optimized(module, x)
        other = {name: torch.zeros_like(p) for name, p in fast.named_parameters()}
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(torch.func.functional_call(fast, other, (x,)).abs().sum().item(), 0)
            fast(x)
        self.assertEqual(fast.fast_calls, 1)


class Writers(Case):
    """Modules that write to what they are given, or to themselves."""

    class IntoInput(nn.Module):
        def forward(self, x):
            x.add_(1)
            return x * 2

    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", torch.zeros(4))

        def forward(self, x):
            self.n.add_(1)
            return x * self.n

    def test_are_refused_and_nothing_is_written(self):
        x = torch.zeros(4, 4)
        with self.assertRaisesRegex(amdahl.Unsupported, "writes to its input 0"):
            amdahl.optimize(self.IntoInput().eval(), x, minutes=MINUTES)
        self.assertEqual(x.abs().sum().item(), 0)
        counter = self.Counter().eval()
        with self.assertRaisesRegex(amdahl.Unsupported, "writes to 'n'"):
            amdahl.optimize(counter, x, minutes=MINUTES)
        self.assertEqual(counter.n.sum().item(), 0)

    def test_run_as_they_are_when_compiled(self):
        def into(x, c):
            c[:, 0] = x[:, 0]
            x.add_(1)
            return x * 2

        def view(x):
            return x[0], x * 3
        counter = self.Counter().eval()
        options = {"minutes": MINUTES, "progress": False}
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = torch.compile(into, backend=backend, options=options)
            for call in range(3):
                x, c = torch.ones(2, 2), torch.zeros(2, 2)
                self.assertEqual(compiled(x, c).sum().item(), 16)
                self.assertEqual((x.sum().item(), c.sum().item()), (8, 2))
            compiled = torch.compile(counter, backend=backend, options=options)
            for call in range(1, 4):
                self.assertEqual(compiled(torch.ones(4)).sum().item(), 4 * call)
            compiled = torch.compile(view, backend=backend, options=options)
            x = torch.ones(2, 2)
            for call in range(2):
                compiled(x)[0].add_(1)
            self.assertEqual(x[0].tolist(), [3, 3])


class Transforms(Case):
    def setUp(self):
        self.module, self.x = small(), torch.randn(4, 24)
        self.fast = optimized(self.module, self.x)
        self.module.requires_grad_(False)

    def same(self, of):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got, want = of(self.fast), of(self.module)
        self.assertTrue(torch.allclose(got, want, atol=1e-5), (got - want).abs().max())

    def test_transforms_modes_and_traces(self):
        import torch.autograd.forward_ad as forward
        from torch.fx.experimental.proxy_tensor import make_fx

        def dual(module):
            with forward.dual_level():
                return forward.unpack_dual(module(forward.make_dual(self.x, torch.ones_like(self.x)))).tangent
        with torch.no_grad():
            self.same(lambda m: torch.func.vmap(m)(self.x[None].repeat(3, 1, 1)))
            self.same(lambda m: torch.func.jvp(m, (self.x,), (torch.ones_like(self.x),))[1])
            self.same(dual)
            self.same(lambda m: torch.func.functionalize(m)(self.x))
            self.same(lambda m: make_fx(m)(self.x)(self.x + 1))
            self.same(lambda m: torch.jit.trace(m, self.x, check_trace=False)(self.x + 1))

    def test_tensors_that_are_no_arrays(self):
        with torch.no_grad():
            self.same(lambda m: m(torch._neg_view(self.x)))
            self.same(lambda m: m(torch._efficientzerotensor((4, 24))))

    def test_tuples_of_another_name(self):
        class Reads(nn.Module):
            def forward(self, p):
                return p.a - 2 * p.b
        module, a, b = Reads().eval(), torch.ones(4), torch.full((4,), 5.0)
        fast = optimized(module, (One(a, b),))
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertTrue(torch.equal(fast(Two(a, b)), module(Two(a, b))))


class Exports(Case):
    def test_what_the_data_decide_is_refused(self):
        class Branch(nn.Module):
            def forward(self, x):
                return x * 2 if x.sum() > 0 else x * 3
        with self.assertRaisesRegex(amdahl.ExportFailed, "TorchScript: a trace would fix what this call's numbers decide"):
            amdahl.optimize(Branch().eval(), torch.ones(4), minutes=MINUTES)

    def test_two_threads_leave_output_as_it_was(self):
        modules = [small(21), small(22)]
        threads = [threading.Thread(target=optimized, args=(m, torch.randn(4, 24))) for m in modules]
        before = sys.stdout, sys.stderr
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual((sys.stdout, sys.stderr), before)

    def test_an_interrupt_while_it_exports_is_not_lost(self):
        class Slow(nn.Module):
            def forward(self, x):
                try:
                    os.kill(os.getpid(), signal.SIGINT)
                    for _ in range(1000):  # Python handles signals between its own steps
                        pass
                except KeyboardInterrupt:
                    pass
                return x * 2
        from amdahl.pytorch import export
        with self.assertRaises(KeyboardInterrupt):
            export.write_onnx(Slow().eval(), {"tuple": [{"tuple": [{"tensor": 0}]}, {"dict": "builtins:dict", "keys": [], "items": []}]}, [torch.ones(2)], [{}],
                              os.path.join(tempfile.mkdtemp(), "m.onnx"))


class Folders(Case):
    def setUp(self):
        self.module, self.x = small(), torch.randn(4, 24)
        self.fast = optimized(self.module, self.x)
        self.folder = os.path.join(tempfile.mkdtemp(), "saved")

    def test_what_is_not_ours_stays(self):
        os.makedirs(self.folder)
        for name, text in (("module.json", '{"name": "my game"}'), ("thesis.txt", "years")):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        with self.assertRaisesRegex(amdahl.BadUsage, "holds something else"):
            amdahl.save(self.fast, self.folder)
        shutil.rmtree(self.folder)
        amdahl.save(self.fast, self.folder)
        amdahl.save(self.fast, self.folder)
        with open(os.path.join(self.folder, "notes.txt"), "w") as file:
            file.write("mine")
        with self.assertRaisesRegex(amdahl.BadUsage, "notes.txt"):
            amdahl.save(self.fast, self.folder)

    def test_a_library_that_is_cut_off_is_an_error(self):
        amdahl.save(self.fast, self.folder)
        for name in ("libamdahl-plan.so", os.path.join("kernels", sorted(os.listdir(os.path.join(self.folder, "kernels")))[0])):
            path = os.path.join(self.folder, name)
            with open(path, "rb") as file:
                whole = file.read()
            with open(path, "wb") as file:
                file.write(whole[:len(whole) // 2])
            with self.assertRaisesRegex(amdahl.MachineError, "is damaged"):
                amdahl.load(self.folder)
            with self.assertRaisesRegex(amdahl.MachineError, "is cut off"):
                amdahl.Plan(self.folder)
            with open(path, "wb") as file:
                file.write(whole)
        amdahl.load(self.folder)

    def test_another_original_is_refused(self):
        amdahl.save(self.fast, self.folder)
        amdahl.load(self.folder, original=small())
        for other in (small(5), nn.Linear(24, 8), small().train()):
            with self.assertRaises(amdahl.BadUsage):
                amdahl.load(self.folder, original=other)

    def test_a_damaged_cache_heals(self):
        def again():
            other = optimized(small(), self.x)
            with torch.no_grad():
                self.assertClose(other(self.x), self.module(self.x))
            self.assertEqual(other.fast_calls, 1)
        plan = self.fast.plan_folders[0]
        for name in ("plan.json", "weights.bin", "libamdahl-plan.so"):
            with self.subTest(name):
                os.truncate(os.path.join(plan, name), 100)
                again()
        os.remove(os.path.join(plan, "plan.json"))
        again()
        session = self.fast.session.path
        with open(session, "wb") as file:
            file.write(b"not a session" * 100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again()

    def test_errors_have_one_line(self):
        for call in (lambda: amdahl.optimize(small(), self.x, minutes="3"), lambda: amdahl.optimize(small(), self.x, minutes=0),
                     lambda: amdahl.optimize(small(), self.x, dynamic_shapes=({0: torch.export.Dim("n")},)),
                     lambda: amdahl.save(self.fast, __file__)):
            with self.assertRaises(amdahl.AmdahlError):
                call()
        for text in ("[]", '{"format": 2}', '{"kind": "amdahl module", "format": 2, "plans": []}'):
            os.makedirs(self.folder, exist_ok=True)
            with open(os.path.join(self.folder, "module.json"), "w") as file:
                file.write(text)
            with self.assertRaises(amdahl.MachineError):
                amdahl.load(self.folder)


if __name__ == "__main__":
    unittest.main()
