"""optimize(): a module in, a faster one with the same signature out."""
import glob
import hashlib
import json
import os
import shutil
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import torch

from .. import program
from ..cache import cache_dir, module_folder
from ..errors import AmdahlError, BadUsage, NotVerified, Unsupported
from ..progress import Progress, Shown
from ..session import Session, last_words
from .export import write_onnx
from .optimized import OptimizedModule, Signature, TuneAgain
from .structure import NotTraceable, Skeleton, describe

# Of the outputs beside the original's, relative norm: rounding of fp32 comes to 1e-6 to 1e-5; a wrong export to 1e-1 and more.
_MOST_DIFFERENCE = 1e-3


def call_of(example_inputs: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """args and kwargs: of a tensor, a tuple or list of arguments, or a mapping of keyword arguments (such as a tokenizer gives)."""
    if isinstance(example_inputs, torch.Tensor):
        return (example_inputs,), {}
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if isinstance(example_inputs, (tuple, list)):
        return tuple(example_inputs), {}
    raise BadUsage(f"example_inputs must be a tensor, a tuple of arguments, or a dictionary of keyword arguments, not {type(example_inputs).__name__}")


class Example:
    """One call of the module: its structure, its tensors, and what comes out."""

    def __init__(self, module: torch.nn.Module, example_inputs: Any) -> None:
        self.args, self.kwargs = call_of(example_inputs)
        self.tensors: List[torch.Tensor] = []
        given_back: List[torch.Tensor] = []
        try:
            inputs = describe((self.args, self.kwargs), self.tensors)
            with torch.no_grad():
                given = module(*self.args, **self.kwargs)
            outputs = describe(given, given_back)
        except NotTraceable as error:
            raise Unsupported(f"the call holds what cannot be optimized: {error}. Caches of language models: use_cache=False") from error
        if not self.tensors or not given_back:
            raise Unsupported("a call needs a tensor that goes in and one that comes out")
        self.signature = Signature(inputs, outputs)

    @property
    def inputs(self) -> Skeleton:
        return self.signature.inputs


def _device_of(module: torch.nn.Module, example: Example, device: Optional[str]) -> None:
    kinds = {t.device.type for t in [*module.parameters(), *module.buffers(), *example.tensors]}
    if (device or "cpu") != "cpu" or kinds - {"cpu"}:
        raise Unsupported(f"optimize() is for the processor (given: device={device!r}, tensors on {', '.join(sorted(kinds))}): move module and inputs to the "
                          "CPU; an ONNX file can be tuned for a card with amdahl.tune(file, device='cuda')")


def _digest_of(folder: str, options: Mapping[str, Any]) -> str:
    """Of options, and of all files that lie in a folder."""
    digest = hashlib.blake2b(json.dumps(options, sort_keys=True).encode(), digest_size=16)
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            digest.update(os.path.relpath(os.path.join(place, name), folder).encode())
            with open(os.path.join(place, name), "rb") as file:
                while block := file.read(1 << 22):
                    digest.update(block)
    return digest.hexdigest()


def _name(module: torch.nn.Module) -> str:
    return type(module).__name__.lower()


class Job:
    """A module on its way: exported, tuned, and made into an OptimizedModule. Each step can be done again."""

    def __init__(self, module: torch.nn.Module, example: Example, allow: Optional[str], max_error: Optional[float],
                 name: Optional[str] = None) -> None:
        self.module, self.example = module, example
        self.allow, self.max_error = allow, max_error
        self.threads = torch.get_num_threads()
        self.name = name or _name(module)
        self.folder = ""

    def export(self) -> None:
        parent = os.path.join(cache_dir(), "python")
        os.makedirs(parent, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix="export-") as scratch:
            path = os.path.join(scratch, self.name + ".onnx")
            write_onnx(self.module, self.example.inputs, self.example.tensors, path)
            key = _digest_of(scratch, {"threads": self.threads, "allow": self.allow, "max_error": self.max_error})
            self.folder = module_folder(f"{self.name}-{key}")
            for file in os.listdir(scratch):
                os.replace(os.path.join(scratch, file), os.path.join(self.folder, file))

    @property
    def session(self) -> Session:
        return Session(os.path.join(self.folder, "session.amdahl"))

    def tune(self, minutes: float, show: Callable[[program.Event], None], cancelled: Optional[Callable[[], bool]] = None) -> Dict[str, Any]:
        words = ["tune", os.path.join(self.folder, self.name + ".onnx"), "--session", self.session.path, "--minutes", f"{minutes:g}", "--threads", str(self.threads)]
        words += ["--allow", self.allow] if self.allow else []
        words += ["--max-error", f"{self.max_error:g}"] if self.max_error is not None else []
        return program.run_with_events(words, show, cancelled)  # type: ignore[no-any-return]

    def run(self, minutes: float, bar: Progress) -> OptimizedModule:
        """All of it, under one live line."""
        def again(given: Optional[float]) -> Tuple[str, Session]:
            fast = self.run(given if given is not None else minutes, Progress(self.name, bar.asked))
            return fast.plan_folder, self.session

        try:
            bar.phase("exporting from PyTorch")
            self.export()
            report = self.tune(minutes, bar.show)
            bar.phase("loading")
            fast = self.finish(again)
        except KeyboardInterrupt:
            bar.end("interrupted; what was finished is kept, and the same call goes on")
            raise
        except AmdahlError:
            bar.clear()
            raise
        bar.end(last_words(report))
        return fast

    def finish(self, tune_again: Optional[TuneAgain] = None) -> OptimizedModule:
        """Exported as compiled, loaded, and held against the original on the example."""
        fast = OptimizedModule(self.module, self._export_plan(), self.example.signature, self.session, tune_again)
        self._compare(fast)
        return fast

    def _export_plan(self) -> str:
        """A folder a plan: one that another process, or a module of this one, has loaded stays as it is."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="new-") as scratch:
            new = self.session.export(os.path.join(scratch, "plan"), "compiled")
            with open(os.path.join(new, "plan.json"), encoding="utf-8") as file:
                program_of_it = json.load(file)["program"]  # and none of what was measured meanwhile
            plan = os.path.join(self.folder, f"plan-{_digest_of(os.path.join(new, 'kernels'), program_of_it)}")
            try:
                os.rename(new, plan)
            except OSError:  # it is there already
                if not os.path.exists(os.path.join(plan, "plan.json")):
                    raise
        others = sorted((f for f in glob.glob(os.path.join(self.folder, "plan-*")) if f != plan), key=os.path.getmtime)
        for old in others[:-1]:  # the one before may be another process's, which is just loading it
            shutil.rmtree(old, ignore_errors=True)
        return plan

    def _compare(self, fast: OptimizedModule) -> None:
        most = max(_MOST_DIFFERENCE, 2 * (self.max_error or (0.02 if self.allow else 0.0)))
        got: List[torch.Tensor] = []
        want: List[torch.Tensor] = []
        with torch.no_grad():
            describe(fast(*self.example.args, **self.example.kwargs), got)
            describe(self.module(*self.example.args, **self.example.kwargs), want)
        if fast.calls:
            raise AmdahlError(f"the tuned module does not take the example inputs: {next(iter(fast.calls))}; please report this")
        for number, (ours, theirs) in enumerate(zip(got, want)):
            difference = relative_difference(ours, theirs)
            if not difference <= most:
                raise NotVerified(f"output {number} of the tuned module is {difference:.1e} from the original's (limit {most:g}): the exported graph computes "
                                  "something else than the module does; does it draw random numbers, or is it in training mode?")


def relative_difference(got: torch.Tensor, want: torch.Tensor) -> float:
    """|got - want| / |want|; infinite where shapes, types or what is not finite differ."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    g, w = got.detach().double(), want.detach().double()
    finite = torch.isfinite(w)
    if not torch.equal(torch.isfinite(g), finite):
        return float("inf")
    size = w[finite].norm().item()
    return (g[finite] - w[finite]).norm().item() / (size if size > 0 else 1.0)


def optimize(module: torch.nn.Module, example_inputs: Any, minutes: float = 10, device: Optional[str] = None, allow: Optional[str] = None,
             max_error: Optional[float] = None, dynamic_shapes: Any = None, progress: Shown = True) -> OptimizedModule:
    """Tunes `module` for calls like the example's, on this machine, and returns a module with the same signature that computes them faster.

    example_inputs  a tensor, a tuple of arguments, or a mapping of keyword arguments
    minutes         of tuning, earlier runs of the same call counted: a call that was interrupted goes on, one that is done begins at once
    progress        True: a live line in a terminal or notebook; a function: called with every event (docs/json.md)
    allow           "bf16": products may round their operands to bfloat16; `max_error` limits what that may do to the outputs (relative norm, default 0.02)

    Calls of other shapes, types or devices, and those that want a gradient, go to the original. Threads are as many as torch.get_num_threads() says now.
    """
    if not isinstance(module, torch.nn.Module):
        raise BadUsage(f"optimize() takes a torch.nn.Module, not {type(module).__name__}")
    if module.training:
        raise BadUsage("the module is in training mode: call module.eval() first, or what is tuned is not what you will run")
    if dynamic_shapes is not None:
        raise Unsupported("dynamic_shapes is not done yet: optimize() once for each shape, others go to the original")
    example = Example(module, example_inputs)
    _device_of(module, example, device)
    return Job(module, example, allow, max_error).run(minutes, Progress(_name(module), progress))
