"""optimize(): a module in, a faster one with the same signature out."""
import glob
import hashlib
import json
import os
import shutil
import statistics
import tempfile
import time
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import torch

from .. import program
from ..cache import module_folder, python_folder
from ..errors import AmdahlError, BadUsage, NotVerified, SessionBusy, SessionDamaged, Unsupported
from ..plan import files_of
from ..progress import Progress, Shown, time_text
from ..session import Session, last_words
from .export import write_onnx
from .layout import find_layout
from .module_state import ModuleState, held_tensors, name_of_tensor
from .optimized import OptimizedModule, Signature, TuneAgain, is_autocasting
from .structure import NotTraceable, Skeleton, builder, describe

# Of the outputs beside the original's, relative norm: rounding of fp32 comes to 1e-6 to 1e-5; a wrong export to 1e-1 and more.
_MOST_DIFFERENCE = 1e-3
_SECONDS_OF_TIMING = 2.0
_SECONDS_OF_BLOCK = 0.01
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
    """One call of the module: its structure, its tensors, and what comes out. What was given stays as it is: the call is made with copies."""

    def __init__(self, module: torch.nn.Module, example_inputs: Any) -> None:
        args, kwargs = call_of(example_inputs)
        given: List[torch.Tensor] = []
        given_back: List[torch.Tensor] = []
        try:
            with torch.inference_mode(False), torch.no_grad():
                inputs = describe((args, kwargs), given)
                self.tensors = [t.detach().clone() for t in given]
                self.args, self.kwargs = builder(inputs)(self.tensors)
                outputs = describe(self._call(module), given_back)
        except NotTraceable as error:
            raise Unsupported(f"the call holds what cannot be optimized: {error}. Caches of language models: use_cache=False") from error
        if not self.tensors or not given_back:
            raise Unsupported("a call needs a tensor that goes in and one that comes out")
        self.signature = Signature(inputs, outputs)
        places = {_place_of(t) for t in [*self.tensors, *held_tensors(module)]}
        self.gives_views = any(_place_of(t) in places for t in given_back)  # of what goes in, or of weights

    def _call(self, module: torch.nn.Module) -> Any:
        """Raises Unsupported where forward writes to what it is given or to the module's own tensors, which a plan would not do; these are put back."""
        held = held_tensors(module)
        if any(t.is_inference() for t in held):
            raise Unsupported("the module's weights were made in inference mode, where nothing counts their changes: make or load it outside of torch.inference_mode()")
        kept = [None if isinstance(t, torch.nn.Parameter) else t.detach().clone() for t in held]
        before = [t._version for t in held]
        result = module(*self.args, **self.kwargs)
        written = [(t, copy) for t, version, copy in zip(held, before, kept) if t._version != version]
        for t, copy in written:
            if copy is not None:
                t.copy_(copy)
        if written:
            raise Unsupported(f"forward writes to '{name_of_tensor(module, written[0][0])}', as caches and statistics do, and a plan would not")
        for number, t in enumerate(self.tensors):
            if t._version:
                raise Unsupported(f"forward writes to its input {number}, and a plan would not: give it a copy inside, or optimize the part that writes nothing")
        return result

    @property
    def inputs(self) -> Skeleton:
        return self.signature.inputs


def _place_of(t: torch.Tensor) -> int:
    return t.untyped_storage()._cdata if t.layout is torch.strided else id(t)


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
            try:
                self.of[places[argument]["tensor"]] = {int(d): [int(n) for n in sizes] for d, sizes in (dims or {}).items()}
            except (TypeError, ValueError, AttributeError) as error:
                raise BadUsage(f"dynamic_shapes: of {argument!r} give {{dimension: [sizes]}} in whole numbers, as in {{1: [16, 64]}}, not {dims!r}") from error
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
    if str(device or "cpu").split(":")[0] != "cpu" or kinds - {"cpu"}:
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


def _is_like(plan: str, new: str) -> bool:
    """Whether an exported plan has the files of another, plan.json apart: that says when and what was measured."""
    def digest_of(folder: str, name: str) -> str:
        with open(os.path.join(folder, name), "rb") as file:
            return hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    names = set(files_of(new))
    try:
        with open(os.path.join(plan, "plan.json"), encoding="utf-8") as file:
            json.load(file)["program"]
        return names == set(files_of(plan)) and all(digest_of(plan, name) == digest_of(new, name) for name in names - {"plan.json"})
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _name(module: torch.nn.Module) -> str:
    return type(module).__name__.lower()[:60]


class Timing:
    """Seconds of a call, of blocks in turns."""

    def __init__(self, pairs: List[Tuple[float, float]]) -> None:
        self._ratios = sorted(a / b for a, b in pairs)
        # What each takes in the machine's quieter moments: other programs make calls longer and never shorter.
        self.original, self.fast = (_quartile([pair[i] for pair in pairs]) for i in (0, 1))

    def is_slower(self) -> bool:
        """In three of four blocks, and in the quieter ones: no decision for good is made by other programs."""
        return self.fast > self.original * _SLOWER and self._ratios[len(self._ratios) * 3 // 4] < 1

    def __str__(self) -> str:
        low, high = self._ratios[len(self._ratios) // 4], self._ratios[len(self._ratios) * 3 // 4]
        spread = f"; half of all blocks between {low:.2f} and {high:.2f}: other programs disturb" if high > 1.5 * low else ""
        return f"{time_text(self.original)} -> {time_text(self.fast)} a call ({self.original / self.fast:.2f}x{spread})"


def _quartile(values: List[float]) -> float:
    return sorted(values)[len(values) // 4]


def _block(called: torch.nn.Module, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> float:
    """The median of a few calls, after one for the caches and the threads."""
    called(*args, **kwargs)
    took: List[float] = []
    while len(took) < 3 or (sum(took) < _SECONDS_OF_BLOCK and len(took) < 50):
        start = time.perf_counter()
        called(*args, **kwargs)
        took.append(time.perf_counter() - start)
    return statistics.median(took)


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
        self.state: Optional[ModuleState] = None

    def export(self) -> None:
        self.state = ModuleState(self.module, find_layout())  # what changes from now on is not in the file
        parent = python_folder()
        with tempfile.TemporaryDirectory(dir=parent, prefix="export-") as scratch:
            path = os.path.join(scratch, self.name + ".onnx")
            write_onnx(self.module, self.example.inputs, self.example.tensors, self.sizes.names(), path)
            key = _digest_of(scratch, {"threads": self.threads, "allow": self.allow, "max_error": self.max_error, "sizes": self.sizes.words()})
            self.folder = module_folder(f"{self.name}-{key}")
            for file in os.listdir(scratch):
                os.replace(os.path.join(scratch, file), os.path.join(self.folder, file))
        self.state.settle()

    @property
    def session(self) -> Session:
        return Session(os.path.join(self.folder, "session.amdahl"))

    def tune(self, minutes: float, show: Callable[[program.Event], None]) -> Dict[str, Any]:
        words = ["tune", os.path.join(self.folder, self.name + ".onnx"), "--session", self.session.path, "--minutes", f"{minutes:g}", "--threads", str(self.threads)]
        words += ["--allow", self.allow] if self.allow else []
        words += ["--max-error", f"{self.max_error:g}"] if self.max_error is not None else []
        words += self.sizes.words()
        try:
            return self._tune_when_free(words, show)
        except SessionDamaged as error:  # the cache may hold anything; what was learnt is in the wisdom too
            warnings.warn(f"amdahl: {error}; it is put aside, and the search begins anew", RuntimeWarning, stacklevel=2)
            os.replace(self.session.path, self.session.path + ".damaged")
            for file in glob.glob(glob.escape(self.session.path) + "-*"):  # SQLite's journals
                os.remove(file)
            return self._tune_when_free(words, show)

    def _tune_when_free(self, words: List[str], show: Callable[[program.Event], None]) -> Dict[str, Any]:
        """Of several processes that make the same call one tunes, and the others have what it found."""
        while True:
            try:
                return program.run_with_events(words, show)  # type: ignore[no-any-return]
            except SessionBusy:
                show({"event": "phase", "phase": "another process tunes this module: waiting for it"})
                time.sleep(1)

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
        timing = self.time(fast)
        fast.forget_calls()  # those were ours
        fast.original_seconds, fast.seconds = timing.original, timing.fast
        if self.never_slower and timing.is_slower():
            fast.leave_to_the_original(f"it was faster when both were measured, {timing}: optimize with more minutes")
        bar.end(f"{timing}; the plan {last_words(report)}")
        return fast

    def time(self, fast: OptimizedModule) -> Timing:
        """Blocks of calls of the original and of the tuned module, in turns, for two seconds, or three of each where they are slow: what a user of either sees. Single calls in turns would
        have the threads of one wait for those of the other."""
        args, kwargs = self._call_of(fast.shapes()[0])
        with torch.inference_mode():
            end = time.perf_counter() + _SECONDS_OF_TIMING
            pairs: List[Tuple[float, float]] = []
            while len(pairs) < 3 or (time.perf_counter() < end and len(pairs) < 100):
                pairs.append((_block(self.module, args, kwargs), _block(fast, args, kwargs)))
        return Timing(pairs)

    def finish(self, shapes: List[Optional[str]], tune_again: Optional[TuneAgain] = None) -> OptimizedModule:
        """Exported as compiled, loaded, and held against the original on the example. `shapes`: names of them, or None for the one there is."""
        plans = [self._export_plan(shape) for shape in shapes]
        self._remove_older(plans)
        if self.state is not None and self.state.numbers_moved():
            raise AmdahlError("the module's weights changed while it was tuned, and the plan has those of before: make the call again, it goes on")
        fast = OptimizedModule(self.module, plans, self.example.signature, self.session, tune_again, self.state)
        if shapes == [None]:
            self._compare(fast, self.example.args, self.example.kwargs)
        else:
            for of_inputs in fast.shapes():
                self._compare(fast, *self._call_of(of_inputs))
        if self.state is not None:
            self.state.settle()
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
            if os.path.isdir(plan) and not _is_like(plan, new):
                shutil.rmtree(plan, ignore_errors=True)  # somebody has damaged it; whoever runs it has its files open
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
            raise AmdahlError(f"the tuned module leaves the example inputs to the original: {next(iter(fast.calls))}")
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
    if not isinstance(minutes, (int, float)) or isinstance(minutes, bool) or not minutes > 0:
        raise BadUsage(f"minutes must be a number above 0, not {minutes!r}")
    if is_autocasting():
        raise BadUsage("optimize() under autocast: leave that, and say allow='bf16' where products may round to bfloat16")
    if any(part.training for part in module.modules()):
        raise BadUsage("the module is in training mode: call module.eval() first, or what is tuned is not what you will run")
    example = Example(module, example_inputs)
    _device_of(module, example, device)
    return Job(module, example, allow, max_error, dynamic_shapes=dynamic_shapes, never_slower=never_slower).run(minutes, Progress(_name(module), progress))
