"""The module that `optimize()` returns: the winners where they apply, the original everywhere else."""
import os
import warnings
from collections import Counter
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch
from torch.autograd import forward_ad
from torch.nn.modules import module as torch_modules

from ..errors import BadInput, NotVerified
from ..plan import BAD_INDEX, COMPUTED, Plan
from ..session import Report, Session
from .dtypes import TORCH_DTYPES
from .layout import find_layout
from .module_state import PLAIN, ModuleState
from .structure import Skeleton, builder, gather


def _autocast_query() -> Callable[[], bool]:
    """Whether autocast is on for any device: the original would compute in other types."""
    private = getattr(torch._C, "_is_any_autocast_enabled", None)  # half the time of the public question, where it is
    return private or (lambda: torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled())


_CHANGED = "weights have changed since: refresh() tunes for those that there are now"
_OBSERVED = "PyTorch is recording what is computed: a trace, a mode, or forward-mode differentiation"
is_autocasting = _autocast_query()
# Those that a call asks, bound to names of this module: each costs 50 to 100 ns, and looking it up in torch a third more.
_grad_enabled, _threads, _empty_like = torch.is_grad_enabled, torch.get_num_threads, torch.empty_like
_tracing, _modes = torch._C._get_tracing_state, torch._C._len_torch_dispatch_stack
_hooks_of_all, _pre_hooks_of_all = torch_modules._global_forward_hooks, torch_modules._global_forward_pre_hooks


class Signature:
    """How the module is called, and what it gives back: as plain data, so that it can be saved."""

    def __init__(self, inputs: Skeleton, outputs: Skeleton) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.build_outputs = builder(outputs)
        args, kwargs = inputs["tuple"]
        self.names: List[str] = kwargs["keys"]
        parts = [*args["tuple"], *kwargs["items"]]
        self.positional = len(args["tuple"])
        # Each argument a tensor of its own, in order: nothing needs to be looked for.
        self.flat = all(p == {"tensor": i} for i, p in enumerate(parts))
        # What most modules are, asked without another call: so many tensors by position, and one comes out.
        self.plain_count = self.positional if self.flat and not self.names else -1
        self.gives_one = outputs == {"tensor": 0}

    def tensors(self, args: Any, kwargs: Dict[str, Any]) -> Optional[List[torch.Tensor]]:
        """Those of a call; None where its structure is another."""
        if self.flat and len(args) == self.positional and len(kwargs) == len(self.names):
            if not kwargs:
                return list(args)
            try:
                return [*args, *[kwargs[name] for name in self.names]]
            except KeyError:
                return None
        found: List[torch.Tensor] = []
        return found if gather((args, kwargs), self.inputs, found) else None


class Bound:
    """A plan with what a call of it needs, looked up once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.threads, self.calls = plan.threads, 0
        self.refusal = ""  # why run() refused the last call that it did
        self._inputs = [(torch.Size(spec.shape), TORCH_DTYPES[spec.dtype]) for spec in plan.inputs]
        self._single = self._inputs[0] if len(self._inputs) == 1 else None
        # Outputs are made like these, which is half as dear as of a shape and a type; nothing is written to them, so that large ones take no memory.
        self._patterns = [torch.empty(spec.shape, dtype=TORCH_DTYPES[spec.dtype]) for spec in plan.outputs]
        self._only = self._patterns[0] if len(self._patterns) == 1 else None  # a comprehension takes 0.25 us before Python 3.12
        self._free: List[Any] = []  # pairs of pointer arrays: one a call that is under way

    def fits(self, tensors: List[torch.Tensor]) -> bool:
        if self._single is not None and len(tensors) == 1:  # half the time of a loop
            t, single = tensors[0], self._single
            return type(t) in PLAIN and t.shape == single[0] and t.dtype is single[1] and t.is_cpu
        if len(tensors) != len(self._inputs):
            return False
        for t, (shape, dtype) in zip(tensors, self._inputs):
            if type(t) not in PLAIN or t.shape != shape or t.dtype is not dtype or not t.is_cpu:
                return False
        return True

    def misfit(self, tensors: List[torch.Tensor]) -> str:
        """Why fits() says no."""
        if len(tensors) != len(self._inputs):
            return "other arguments"
        for t, (shape, dtype) in zip(tensors, self._inputs):
            if type(t) not in PLAIN:
                return f"a {type(t).__name__} is given where it was a tensor"
            if t.shape != shape:
                return "other shapes"
            if t.dtype is not dtype:
                return "other types of numbers"
        return "tensors elsewhere than in the processor's memory"

    def run(self, tensors: List[torch.Tensor]) -> Optional[List[torch.Tensor]]:
        """None: see `refusal`. Puts dense copies into `tensors` where they are not dense."""
        plan = self.plan
        outputs = [_empty_like(self._only)] if self._only is not None else [_empty_like(p) for p in self._patterns]
        try:
            pointers = self._free.pop()
        except IndexError:
            pointers = plan.input_pointers(), plan.output_pointers()
        into, out_of = pointers
        i = 0
        try:
            for t in tensors:
                if not t.is_contiguous() or t.is_neg():
                    t = tensors[i] = t.resolve_neg().contiguous()
                at = into[i] = t.data_ptr()
                if not at and t.numel():
                    raise RuntimeError
                i += 1
        except RuntimeError:  # sparse, nested, of a transform of functions: their numbers lie nowhere as an array does
            self.refusal = "a tensor that is no array in memory"
            return None
        i = 0
        for t in outputs:
            out_of[i] = t.data_ptr()
            i += 1
        code = plan.run_at(plan.handle, into, out_of)
        self._free.append(pointers)
        if code == COMPUTED:
            return outputs
        self.refusal = "an index is out of range" if code == BAD_INDEX else _CHANGED
        return None


# Minutes, or None for as many as at first.
TuneAgain = Callable[[Optional[float]], "OptimizedModule"]


class OptimizedModule(torch.nn.Module):
    """Called as the original is. `fast.original` is that; `fast.calls` counts the calls that it computed, by the reason; `fast.seconds` and `fast.original_seconds` are what a
    call of either took when it was made. Outputs are new tensors each time, and no gradient passes through the winners; while one of the original's parts is another, is in training
    mode or has got a hook, the original computes. Attributes that are not ours are the original's."""

    original: Optional[torch.nn.Module]

    def __init__(self, original: Optional[torch.nn.Module], plan_folders: Sequence[str], signature: Signature, session: Optional[Session] = None,
                 tune_again: Optional[TuneAgain] = None, state: Optional[ModuleState] = None) -> None:
        """`state`: the original's, from before the plans were made."""
        super().__init__()
        self.original = original
        self.signature, self.session, self._tune_again = signature, session, tune_again
        self.calls: "Counter[str]" = Counter()
        self.seconds: Optional[float] = None
        self.original_seconds: Optional[float] = None
        self._left: Optional[str] = None
        self._told: set = set()  # type: ignore[type-arg]
        self.training = original.training if original is not None else False
        self._bind(plan_folders, state)

    def _bind(self, plan_folders: Sequence[str], state: Optional[ModuleState] = None) -> None:
        self.plan_folders = list(plan_folders)  # one a shape
        self._bounds = [Bound(Plan(folder)) for folder in plan_folders]
        self._trained = self.training
        self._state = None
        self._first: Any = None
        if self.original is not None:
            state = self._state = state or ModuleState(self.original, find_layout())
            for bound in self._bounds:
                bound.plan.watch(state.words)
            if state.numbers_moved():  # before the plans began to watch
                state.written()
            self._first = state.first

    @property
    def fast_calls(self) -> int:
        """How many calls the winners computed."""
        return sum(bound.calls for bound in self._bounds)

    def forget_calls(self) -> None:
        """Counts begin again."""
        self.calls.clear()
        for bound in self._bounds:
            bound.calls = 0

    def leave_to_the_original(self, why: str) -> None:
        """From now on it computes every call."""
        self._left = why

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            original = self.__dict__.get("_modules", {}).get("original")
            if original is None:
                raise
            return getattr(original, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # nn.Module's own takes a microsecond to find that there are no hooks.
        if self._forward_hooks or self._forward_pre_hooks or _hooks_of_all or _pre_hooks_of_all:
            return super().__call__(*args, **kwargs)
        return self._compute(args, kwargs)

    def shapes(self) -> List[List[Tuple[int, ...]]]:
        """That it was tuned for: of each, what its inputs have."""
        return [[spec.shape for spec in bound.plan.inputs] for bound in self._bounds]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._compute(args, kwargs)

    def _compute(self, args: Any, kwargs: Dict[str, Any]) -> Any:
        signature = self.signature
        tensors = list(args) if len(args) == signature.plain_count and not kwargs else signature.tensors(args, kwargs)
        bound, state, first = self._bounds[0], self._state, self._first
        if tensors is None or self._left is not None or not bound.fits(tensors):
            bound = self._fitting(tensors)  # of several shapes another
        if (bound is not None and (state is None or (state.unchanged() and (first is None or first[0].get(first[1]) is first[2]))) and self.training is self._trained and not is_autocasting()
                and _threads() >= bound.threads and not _modes() and _tracing() is None and forward_ad._current_level < 0
                and not (_grad_enabled() and self._wants_gradient(tensors))):
            outputs = bound.run(tensors)
            if outputs is not None:
                bound.calls += 1  # not an attribute of ours: a Module takes 2 us to set one
                return outputs[0] if signature.gives_one else signature.build_outputs(outputs)
        return self._otherwise(self._why_not(tensors), args, kwargs)

    def _is_whole(self) -> bool:
        """Not called with other parameters for once, as torch.func.functional_call does. A call asks the same without calling this."""
        first = self._first
        return first is None or first[0].get(first[1]) is first[2]

    def _fitting(self, tensors: Optional[List[torch.Tensor]]) -> Any:
        if tensors is not None and self._left is None:
            for bound in self._bounds:
                if bound.fits(tensors):
                    return bound
        return None

    def _why_not(self, tensors: Optional[List[torch.Tensor]]) -> str:
        if self._left is not None:
            return self._left
        if tensors is None:
            return "other arguments"
        bound = self._fitting(tensors)
        if bound is None:
            return self._bounds[0].misfit(tensors)
        state = self._state
        if state is not None and not (state.unchanged() and self._is_whole()):
            part = state.what_changed()
            return f"'{part}' is not what it was: put it back, or refresh()" if part else _CHANGED
        if self.training is not self._trained:
            return "it was optimized in the other mode, of train() and eval()"
        if is_autocasting():
            return "autocast is on"
        if _threads() < bound.threads:
            return f"PyTorch was told to use fewer threads than the {bound.threads} that it was tuned for"
        if _modes() or _tracing() is not None or forward_ad._current_level >= 0:
            return _OBSERVED
        if _grad_enabled() and self._wants_gradient(tensors):
            return "a gradient is wanted: call it under torch.inference_mode() or torch.no_grad()"
        return str(bound.refusal)

    def _wants_gradient(self, tensors: List[torch.Tensor]) -> bool:
        if any(t.requires_grad for t in tensors):
            return True
        return self.original is not None and any(p.requires_grad for p in self.original.parameters())

    def _otherwise(self, why: str, args: Any, kwargs: Dict[str, Any]) -> Any:
        if self.original is None:
            wanted = " or ".join(", ".join(f"{s.dtype}{list(s.shape)}" for s in bound.plan.inputs) for bound in self._bounds)
            raise BadInput(f"the saved module cannot compute this call ({why}): it takes {wanted}; amdahl.load(path, original=module) gives it one that can")
        self.calls[why] += 1
        if why not in self._told:
            self._told.add(why)
            warnings.warn(f"amdahl: the original module computes this call: {why}. Said once; OptimizedModule.calls counts", RuntimeWarning, stacklevel=4)
        return self.original(*args, **kwargs)

    def refresh(self, minutes: Optional[float] = None) -> "OptimizedModule":
        """Tunes for the weights that the original has now; what earlier sessions learnt is tried first, so that little time goes far. Also after weights
        were written in ways that nobody is told of (`p.data.add_(…)`, an array of NumPy that shares their memory)."""
        if self._tune_again is None:
            raise BadInput("this module was loaded: call amdahl.optimize() with the original, and save what that returns")
        again = self._tune_again(minutes)
        self.session, self.seconds, self.original_seconds, self._left = again.session, again.seconds, again.original_seconds, again._left
        self.plan_folders, self._bounds, self._trained = again.plan_folders, again._bounds, again._trained
        self._state, self._first = again._state, again._first
        return self

    def report(self) -> Report:
        """What the session has tried, kept and left. In a notebook a page with plots."""
        return self._session().report()

    def verify(self) -> Dict[str, Any]:
        """Runs the recorded case, then proves the session's headline again (a minute or so). Raises NotVerified."""
        if not self.is_unchanged():
            raise NotVerified("the original's weights or parts have changed since it was tuned: refresh(), then verify")
        error = max(bound.plan.verify() for bound in self._bounds)
        return {"relative_norm": error, **(self._session().verify() or {})}

    def is_unchanged(self) -> bool:
        """Whether the plans have what the original has."""
        return self._state is None or (self._state.unchanged() and all(bound.plan.unchanged() for bound in self._bounds))

    def _session(self) -> Session:
        if self.session is None or not os.path.exists(self.session.path):
            raise BadInput("this module was saved without its session: ask the one that optimize() returned")
        return self.session

    def extra_repr(self) -> str:
        facts = self._bounds[0].plan.facts
        return f"{facts['provenance']}; {self.fast_calls} calls by the winners, {sum(self.calls.values())} by the original"

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        state["_weights_are_good"] = self.is_unchanged()
        for name in ("_bounds", "_state", "_first"):
            state.pop(name)
        state["_tune_again"] = None
        state["signature"] = (self.signature.inputs, self.signature.outputs)
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        good = state.pop("_weights_are_good")
        trained = state["_trained"]
        super().__setstate__(state)
        self.signature = Signature(*state["signature"])
        self._bind(self.plan_folders)
        self._trained = trained
        if not good and self._state is not None:
            self._state.written()
