"""optimize(): a module in, a faster one with the same signature out."""
import glob
import hashlib
import json
import os
import shutil
import statistics
import tempfile
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import torch

from .. import program
from ..cache import cache_dir, module_folder
from ..errors import AmdahlError, BadUsage, NotVerified, Unsupported
from ..progress import Progress, Shown, time_text
from ..session import Session, last_words
from .export import write_onnx
from .optimized import OptimizedModule, Signature, TuneAgain
from .structure import NotTraceable, Skeleton, builder, describe

# Of the outputs beside the original's, relative norm: rounding of fp32 comes to 1e-6 to 1e-5; a wrong export to 1e-1 and more.
_MOST_DIFFERENCE = 1e-3
_SECONDS_OF_TIMING = 2.0
_SLOWER = 1.05  # a few per cent are noise, of a machine with other programs


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


class Sizes:
    """Sizes that a module is tuned for beside the example's, as the user says it: {argument: {dimension: [sizes]}}, or a tuple of {dimension: [sizes]} an argument. Lists
    are taken in turn, so that all have one length; equal ones are one size."""

    def __init__(self, example: Example, asked: Any) -> None:
        self.of: List[Dict[int, List[int]]] = [{} for _ in example.tensors]
        self._shapes = [list(t.shape) for t in example.tensors]
        args, kwargs = example.inputs["tuple"]
        places = dict(zip(kwargs["keys"], kwargs["items"])) if isinstance(asked, Mapping) else dict(enumerate(args["tuple"]))
        for argument, dims in (asked.items() if isinstance(asked, Mapping) else enumerate(asked or ())):
            if "tensor" not in places.get(argument, {}):
                raise BadUsage(f"dynamic_shapes: {argument!r} is no argument of the example that is a tensor")
            self.of[places[argument]["tensor"]] = {int(d): [int(n) for n in sizes] for d, sizes in (dims or {}).items()}
        self.count = len({len(sizes) for dims in self.of for sizes in dims.values()})
        if self.count > 1:
            raise BadUsage("dynamic_shapes: the lists of sizes are taken in turn, and must have one length")
        for dims, shape in zip(self.of, self._shapes):
            if any(not 0 <= d < len(shape) for d in dims):
                raise BadUsage(f"dynamic_shapes: there is no dimension {next(d for d in dims if not 0 <= d < len(shape))} in {shape}")

    def names(self) -> List[Dict[int, str]]:
        known: Dict[Tuple[int, ...], str] = {}
        return [{d: known.setdefault(tuple(sizes), f"size{len(known)}") for d, sizes in dims.items()} for dims in self.of]

    def words(self) -> List[str]:
        """--shape 'in0=1,{16,64}' of each input that has open sizes."""
        words = []
        for i, (dims, shape) in enumerate(zip(self.of, self._shapes)):
            if dims:
                text = [("{" + ",".join(map(str, dims[d])) + "}" if len(dims[d]) > 1 else str(dims[d][0])) if d in dims else str(n) for d, n in enumerate(shape)]
                words += ["--shape", f"in{i}={','.join(text)}"]
        return words


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

    def __init__(self, module: torch.nn.Module, example: Example, allow: Optional[str], max_error: Optional[float], name: Optional[str] = None,
                 dynamic_shapes: Any = None, never_slower: bool = True) -> None:
        self.never_slower = never_slower
        self.module, self.example, self.sizes = module, example, Sizes(example, dynamic_shapes)
        self.allow, self.max_error = allow, max_error
        self.threads = torch.get_num_threads()
        self.name = name or _name(module)
        self.folder = ""

    def export(self) -> None:
        parent = os.path.join(cache_dir(), "python")
        os.makedirs(parent, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix="export-") as scratch:
            path = os.path.join(scratch, self.name + ".onnx")
            write_onnx(self.module, self.example.inputs, self.example.tensors, self.sizes.names(), path)
            key = _digest_of(scratch, {"threads": self.threads, "allow": self.allow, "max_error": self.max_error, "sizes": self.sizes.words()})
            self.folder = module_folder(f"{self.name}-{key}")
            for file in os.listdir(scratch):
                os.replace(os.path.join(scratch, file), os.path.join(self.folder, file))

    @property
    def session(self) -> Session:
        return Session(os.path.join(self.folder, "session.amdahl"))

    def tune(self, minutes: float, show: Callable[[program.Event], None]) -> Dict[str, Any]:
        words = ["tune", os.path.join(self.folder, self.name + ".onnx"), "--session", self.session.path, "--minutes", f"{minutes:g}", "--threads", str(self.threads)]
        words += ["--allow", self.allow] if self.allow else []
        words += ["--max-error", f"{self.max_error:g}"] if self.max_error is not None else []
        words += self.sizes.words()
        return program.run_with_events(words, show)  # type: ignore[no-any-return]

    def run(self, minutes: float, bar: Progress) -> OptimizedModule:
        """All of it, under one live line."""
        with bar:
            bar.phase("exporting from PyTorch")
            self.export()
        return self.tune_and_load(minutes, bar)

    def tune_and_load(self, minutes: float, bar: Progress) -> OptimizedModule:
        """What was exported."""
        def again(given: Optional[float]) -> OptimizedModule:
            return self.run(given if given is not None else minutes, Progress(self.name, bar.asked))

        with bar:
            report = self.tune(minutes, bar.show)
            bar.phase("loading")
            fast = self.finish([shape["name"] for shape in report.get("shapes", [])] or [None], again)
        before, after = self.time(fast)
        fast.forget_calls()  # those were ours
        fast.seconds = after
        fast.original_seconds = before
        if self.never_slower and after > before * _SLOWER:
            fast.leave_to_the_original(f"it was faster when both were measured, {time_text(before)} against {time_text(after)}: optimize with more minutes")
        bar.end(f"{time_text(before)} -> {time_text(after)} a call ({before / after:.2f}x); the plan {last_words(report)}")
        return fast

    def time(self, fast: OptimizedModule) -> Tuple[float, float]:
        """Medians of calls of the original and of the tuned module, in turns, for two seconds, or three calls of each where they are slow: what a user of either sees."""
        args, kwargs = self._call_of(fast.shapes()[0])
        took: Dict[torch.nn.Module, List[float]] = {self.module: [], fast: []}
        with torch.inference_mode():
            end = time.perf_counter() + _SECONDS_OF_TIMING
            while len(took[fast]) < 3 or (time.perf_counter() < end and len(took[fast]) < 200):
                for called, times in took.items():
                    called(*args, **kwargs)  # caches and threads are the other's
                    start = time.perf_counter()
                    called(*args, **kwargs)
                    times.append(time.perf_counter() - start)
        return statistics.median(took[self.module]), statistics.median(took[fast])

    def finish(self, shapes: List[Optional[str]], tune_again: Optional[TuneAgain] = None) -> OptimizedModule:
        """Exported as compiled, loaded, and held against the original on the example. `shapes`: names of them, or None for the one there is."""
        plans = [self._export_plan(shape) for shape in shapes]
        self._remove_older(plans)
        fast = OptimizedModule(self.module, plans, self.example.signature, self.session, tune_again)
        if shapes == [None]:
            self._compare(fast, self.example.args, self.example.kwargs)
        else:
            for of_inputs in fast.shapes():
                self._compare(fast, *self._call_of(of_inputs))
        return fast

    def _call_of(self, shapes: List[Tuple[int, ...]]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        """The example at other sizes: its numbers, again and again or the first of them."""
        tensors = []
        for t, shape in zip(self.example.tensors, shapes):
            for d, n in enumerate(shape):
                t = t.index_select(d, torch.arange(n) % t.shape[d])
            tensors.append(t)
        call = builder(self.example.inputs)(tensors)
        return call[0], call[1]

    def _remove_older(self, plans: List[str]) -> None:
        others = sorted((f for f in glob.glob(os.path.join(self.folder, "plan-*")) if f not in plans), key=os.path.getmtime)
        for old in others[:-len(plans)]:  # those before may be another process's, which is just loading them
            shutil.rmtree(old, ignore_errors=True)

    def _export_plan(self, shape: Optional[str]) -> str:
        """A folder a plan: one that another process, or a module of this one, has loaded stays as it is."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="new-") as scratch:
            new = self.session.export(os.path.join(scratch, "plan"), "compiled", shape)
            with open(os.path.join(new, "plan.json"), encoding="utf-8") as file:
                program_of_it = json.load(file)["program"]  # and none of what was measured meanwhile
            plan = os.path.join(self.folder, f"plan-{_digest_of(os.path.join(new, 'kernels'), program_of_it)}")
            try:
                os.rename(new, plan)
            except OSError:  # it is there already
                if not os.path.exists(os.path.join(plan, "plan.json")):
                    raise
        return plan

    def _compare(self, fast: OptimizedModule, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        most = max(_MOST_DIFFERENCE, 2 * (self.max_error or (0.02 if self.allow else 0.0)))
        got: List[torch.Tensor] = []
        want: List[torch.Tensor] = []
        with torch.no_grad():
            describe(fast(*args, **kwargs), got)
            describe(self.module(*args, **kwargs), want)
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
             max_error: Optional[float] = None, dynamic_shapes: Any = None, progress: Shown = True, never_slower: bool = True) -> OptimizedModule:
    """Tunes `module` for calls like the example's, on this machine, and returns a module with the same signature that computes them faster.

    example_inputs  a tensor, a tuple of arguments, or a mapping of keyword arguments
    minutes         of tuning, earlier runs of the same call counted: a call that was interrupted goes on, one that is done begins at once
    dynamic_shapes  sizes to tune for, beside each other: {"ids": {1: [16, 64, 128]}} of keyword arguments, ({1: [16, 64, 128]},) of a tuple; the example is of
                    one of them; lists are taken in turn. Sizes between go to the original
    never_slower    what turns out slower than the original, both called in turns, is left to the original; False: the winners compute all the same
    progress        True: a live line in a terminal or notebook; a function: called with every event (docs/json.md)
    allow           "bf16": products may round their operands to bfloat16; `max_error` limits what that may do to the outputs (relative norm, default 0.02)

    Calls of other shapes, types or devices, and those that want a gradient, go to the original. Threads are as many as torch.get_num_threads() says now.
    """
    if not isinstance(module, torch.nn.Module):
        raise BadUsage(f"optimize() takes a torch.nn.Module, not {type(module).__name__}")
    if module.training:
        raise BadUsage("the module is in training mode: call module.eval() first, or what is tuned is not what you will run")
    example = Example(module, example_inputs)
    _device_of(module, example, device)
    return Job(module, example, allow, max_error, dynamic_shapes=dynamic_shapes, never_slower=never_slower).run(minutes, Progress(_name(module), progress))
