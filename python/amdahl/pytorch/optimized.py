"""The module that `optimize()` returns: the winners where they apply, the original everywhere else."""
import os
import warnings
from collections import Counter
from typing import Any, Dict, List, Optional

import torch

from ..errors import BadInput
from ..plan import BAD_INDEX, Plan
from ..session import Report, Session
from .dtypes import TORCH_DTYPES
from .structure import Skeleton, builder, gather
from .weights import WeightWatch

_PLAIN = (torch.Tensor, torch.nn.Parameter)  # subclasses compute something else, or trace


def _is_autocasting() -> bool:
    return torch.is_autocast_enabled("cpu")


try:
    _is_autocasting()
except TypeError:  # before PyTorch 2.4
    _is_autocasting = torch.is_autocast_cpu_enabled  # type: ignore[assignment]


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
        self.handle, self.run_at = plan.handle, plan.run_at
        self.input_pointers, self.output_pointers = plan.input_pointers, plan.output_pointers
        self.inputs = [(torch.Size(spec.shape), TORCH_DTYPES[spec.dtype]) for spec in plan.inputs]
        self.outputs = [(spec.shape, TORCH_DTYPES[spec.dtype]) for spec in plan.outputs]
        self.threads = plan.threads

    def misfit(self, tensors: List[torch.Tensor]) -> str:
        """"" or why these cannot be its inputs."""
        if len(tensors) != len(self.inputs):
            return "other arguments"
        for t, (shape, dtype) in zip(tensors, self.inputs):
            if type(t) not in _PLAIN:
                return "no tensor, or of a class of its own"
            if t.shape != shape:
                return "other shapes"
            if t.dtype is not dtype:
                return "other types of numbers"
            if not t.is_cpu or t.layout is not torch.strided:
                return "tensors elsewhere than in the processor's memory"
        return ""

    def run(self, tensors: List[torch.Tensor]) -> Optional[List[torch.Tensor]]:
        """None: an index is out of range."""
        inputs = [t if t.is_contiguous() else t.contiguous() for t in tensors]
        outputs = [torch.empty(shape, dtype=dtype) for shape, dtype in self.outputs]
        code = self.run_at(self.handle, self.input_pointers(*[t.data_ptr() for t in inputs]), self.output_pointers(*[t.data_ptr() for t in outputs]))
        return None if code == BAD_INDEX else outputs


class OptimizedModule(torch.nn.Module):
    """Called as the original is. `fast.original` is that; `fast.calls` counts by whom calls were computed and why. Outputs are new tensors each time; hooks
    that the original's parts have got since are not called by the winners, and no gradient passes through them."""

    original: Optional[torch.nn.Module]

    def __init__(self, original: Optional[torch.nn.Module], plan_folder: str, signature: Signature, session: Optional[Session] = None) -> None:
        super().__init__()
        self.original = original
        self.signature, self.session = signature, session
        self.calls: "Counter[str]" = Counter()
        self._fast_calls = 0
        self._told: set = set()  # type: ignore[type-arg]
        self.training = original.training if original is not None else False
        self._bind(plan_folder)

    def _bind(self, plan_folder: str) -> None:
        self.plan_folder = plan_folder
        self._bound = Bound(Plan(plan_folder))
        self._trained = self.training
        self._watch = WeightWatch(self.original) if self.original is not None else None

    @property
    def fast_calls(self) -> int:
        """How many calls the winners computed."""
        return self._fast_calls

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        tensors = self.signature.tensors(args, kwargs)
        if tensors is None:
            return self._otherwise("other arguments", args, kwargs)
        bound = self._bound
        why = bound.misfit(tensors)
        if why:
            return self._otherwise(why, args, kwargs)
        if torch.is_grad_enabled() and self._wants_gradient(tensors):
            return self._otherwise("a gradient is wanted: call it under torch.inference_mode() or torch.no_grad()", args, kwargs)
        watch = self._watch
        if watch is not None and not watch.unchanged():
            return self._otherwise("weights have changed since: refresh() tunes for those that there are now", args, kwargs)
        if self.training is not self._trained:
            return self._otherwise("it was optimized in the other mode, of train() and eval()", args, kwargs)
        if _is_autocasting():
            return self._otherwise("autocast is on", args, kwargs)
        if torch.get_num_threads() < bound.threads:
            return self._otherwise(f"PyTorch was told to use fewer threads than the {bound.threads} that it was tuned for", args, kwargs)
        outputs = bound.run(tensors)
        if outputs is None:
            return self._otherwise("an index is out of range", args, kwargs)
        self._fast_calls += 1
        return self.signature.build_outputs(outputs)

    def _wants_gradient(self, tensors: List[torch.Tensor]) -> bool:
        if any(t.requires_grad for t in tensors):
            return True
        return self.original is not None and any(p.requires_grad for p in self.original.parameters())

    def _otherwise(self, why: str, args: Any, kwargs: Dict[str, Any]) -> Any:
        if self.original is None:
            wanted = ", ".join(f"{s.dtype}{list(s.shape)}" for s in self._bound.plan.inputs)
            raise BadInput(f"the saved module cannot compute this call ({why}): it takes {wanted}; amdahl.load(path, original=module) gives it one that can")
        self.calls[why] += 1
        if why not in self._told:
            self._told.add(why)
            warnings.warn(f"amdahl: the original module computes this call: {why}. Said once; OptimizedModule.calls counts", RuntimeWarning, stacklevel=5)
        return self.original(*args, **kwargs)

    def report(self) -> Report:
        """What the session has tried, kept and left. In a notebook a page with plots."""
        return self._session().report()

    def verify(self) -> Dict[str, Any]:
        """Runs the recorded case, then proves the session's headline again (a minute or so). Raises NotVerified."""
        error = self._bound.plan.verify()
        return {"relative_norm": error, **(self._session().verify() or {})}

    def _session(self) -> Session:
        if self.session is None or not os.path.exists(self.session.path):
            raise BadInput("this module was saved without its session: ask the one that optimize() returned")
        return self.session

    def extra_repr(self) -> str:
        facts = self._bound.plan.facts
        return f"{facts['provenance']}; {self._fast_calls} calls by the winners, {sum(self.calls.values())} by the original"

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        state["_weights_are_good"] = self._watch is None or self._watch.unchanged()
        for name in ("_bound", "_watch"):
            state.pop(name)
        state["signature"] = (self.signature.inputs, self.signature.outputs)
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        good = state.pop("_weights_are_good")
        trained = state["_trained"]
        super().__setstate__(state)
        self.signature = Signature(*state["signature"])
        self._bind(self.plan_folder)
        self._trained = trained
        if not good and self._watch is not None:
            self._watch.replaced()
