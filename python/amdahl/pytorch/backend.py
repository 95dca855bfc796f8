"""torch.compile(module, backend="amdahl", options={…}).

Dynamo hands over a graph whose parameters and buffers are inputs. They are bound as constants, which exporters fold and kernels pack, and looked at in
every call: with others than those, or when they have changed, the graph itself is run."""
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from ..errors import AmdahlError, BadUsage, Unsupported
from ..progress import Progress, Shown
from .optimize import Example, Job
from .optimized import OptimizedModule

_OPTIONS = ("minutes", "mode", "allow", "max_error", "progress", "never_slower")
_MOST_PLANS = 16  # of one graph: open sizes, and modules of one class, which share it
_MINUTES_AT_ONCE = 0.001  # mode "later": the plan that is known already, or kernels as nobody has tuned them yet


def _is_weight(node: torch.fx.Node, value: Any) -> bool:
    """A parameter or buffer of the module: Dynamo names it by where it was found."""
    if isinstance(value, torch.nn.Parameter):
        return True
    return isinstance(value, torch.Tensor) and ("_buffers_" in node.name or getattr(value, "_dynamo_static_input_type", None) is not None)


class Bound(torch.nn.Module):
    """The graph as a module that has its weights, and takes the rest. Sizes that Dynamo left open are those of one call."""

    def __init__(self, graph: torch.fx.GraphModule, fixed: Dict[int, Any], count: int) -> None:
        super().__init__()
        self.graph = graph
        self._numbers = {i: v for i, v in fixed.items() if not isinstance(v, torch.Tensor)}
        self._count = count
        for i, value in fixed.items():
            if isinstance(value, torch.nn.Parameter):
                self.register_parameter(f"w{i}", value)
            elif isinstance(value, torch.Tensor):
                self.register_buffer(f"w{i}", value)
        self._weights = [i for i, v in fixed.items() if isinstance(v, torch.Tensor)]

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        held = {i: getattr(self, f"w{i}") for i in self._weights}
        arguments = [held[i] if i in held else self._numbers[i] if i in self._numbers else next(given) for i in range(self._count)]
        return self.graph(*arguments)


class Case:
    """One module's weights, and numbers in the place of sizes, with what computes for them; until there is something, the graph itself."""

    def __init__(self, weights: List[int], sizes: List[int], arguments: Sequence[Any]) -> None:
        self._weights = [(i, arguments[i]) for i in weights]
        self._sizes = [(i, arguments[i]) for i in sizes]
        self.fast: Optional[OptimizedModule] = None

    def is_of(self, arguments: Sequence[Any]) -> bool:
        for i, size in self._sizes:
            if arguments[i] != size:
                return False
        for i, weight in self._weights:
            if arguments[i] is not weight:
                return False
        return True


class CompiledGraph:
    """What Dynamo calls: flat inputs, a tuple out."""

    def __init__(self, graph: torch.fx.GraphModule, example: Sequence[Any], options: Dict[str, Any]) -> None:
        self.graph, self.options = graph, options
        places = [n for n in graph.graph.nodes if n.op == "placeholder"]
        self.weights = [i for i, (n, v) in enumerate(zip(places, example)) if _is_weight(n, v)]
        self.sizes = [i for i, v in enumerate(example) if not isinstance(v, torch.Tensor)]
        self._skipped = {*self.weights, *self.sizes}
        self._cases: List[Case] = []
        self._lock = threading.Lock()
        if not self.sizes:
            self._prepare(list(example))

    def __call__(self, *arguments: Any) -> Any:
        case = self._case_of(arguments)
        if case is None:
            case = self._prepare(list(arguments))
        if case is None or case.fast is None:
            return self.graph(*arguments)
        out = case.fast(*[a for i, a in enumerate(arguments) if i not in self._skipped])
        return out if isinstance(out, (tuple, list)) else (out,)

    def _case_of(self, arguments: Sequence[Any]) -> Optional["Case"]:
        for case in self._cases:
            if case.is_of(arguments):
                return case
        return None

    def _prepare(self, arguments: List[Any]) -> Optional["Case"]:
        """Tunes for these sizes and weights; in mode "later" behind the running program."""
        with self._lock:
            case = self._case_of(arguments)
            if case is not None or len(self._cases) > _MOST_PLANS:
                return case
            case = Case(self.weights, self.sizes, arguments)
            self._cases.append(case)
        if len(self._cases) > _MOST_PLANS:
            self._left_alone(AmdahlError(f"it is called with other sizes or weights than the {_MOST_PLANS} that it was tuned for"))
            return case
        fixed = {i: arguments[i] for i in [*self.weights, *self.sizes]}
        inputs = [a for i, a in enumerate(arguments) if i not in fixed]
        if any(not isinstance(fixed[i], (int, float, bool)) for i in self.sizes) or not inputs:
            self._cases.remove(case)
            return None  # symbols, not numbers: the first call brings those
        job = self._job(Bound(self.graph, fixed, len(arguments)).eval(), tuple(inputs))
        if job is None:
            return case
        if self.options["mode"] == "later":
            threading.Thread(target=self._tune_behind, args=(case, job), daemon=True, name="amdahl").start()
        else:
            self._tune(case, job, self.options["minutes"], self.options["progress"])
        return case

    def _tune_behind(self, case: "Case", job: Job) -> None:
        """First what needs no search: seconds, where minutes come after."""
        if self._tune(case, job, _MINUTES_AT_ONCE, False):
            self._tune(case, job, self.options["minutes"], self.options["progress"])

    def _job(self, module: Bound, inputs: Tuple[Any, ...]) -> Optional[Job]:
        try:
            example = Example(module, tuple(t.detach() for t in inputs))
            if example.gives_views:
                raise Unsupported("it gives back a view of what goes in, which later code may write through")
            job = Job(module, example, self.options["allow"], self.options["max_error"], name="graph", never_slower=self.options["never_slower"])
            with torch._guards.tracing(None):  # or the exporter takes the guards of the graph that Dynamo is making for its own
                job.export()  # not behind the running program, whose output it would take away: exporters are silenced for the whole process
            return job
        except AmdahlError as error:
            self._left_alone(error)
            return None

    def _tune(self, case: "Case", job: Job, minutes: float, progress: Shown) -> bool:
        try:
            case.fast = job.tune_and_load(minutes, Progress(job.name, progress))
        except AmdahlError as error:
            self._left_alone(error)
            return False
        return True

    def _left_alone(self, error: AmdahlError) -> None:
        warnings.warn(f"amdahl: a graph of {len(self.graph.graph.nodes)} nodes runs as it is: {error}", RuntimeWarning, stacklevel=2)


def amdahl(graph: torch.fx.GraphModule, example_inputs: Sequence[Any], mode: Optional[str] = None, options: Optional[Dict[str, Any]] = None) -> Callable[..., Any]:
    """The entry point `torch_dynamo_backends`. Options: minutes (of each graph, default 2), allow, max_error, progress, and mode="later": tuned
    behind the running program, for which the graph itself computes until there are kernels."""
    given = dict(options or {})
    unknown = sorted(set(given) - set(_OPTIONS))
    if unknown:
        raise BadUsage(f"torch.compile(backend='amdahl') knows no option {', '.join(unknown)}: give some of {', '.join(_OPTIONS)}")
    chosen = {"minutes": 2.0, "mode": mode, "allow": None, "max_error": None, "progress": True, "never_slower": True, **given}
    if chosen["mode"] not in (None, "default", "later"):
        raise BadUsage(f"torch.compile(backend='amdahl') has no mode '{chosen['mode']}': leave it out, or give 'later'")
    if torch.is_grad_enabled() and any(isinstance(v, torch.Tensor) and v.requires_grad for v in example_inputs):
        warnings.warn("amdahl: a graph is compiled for gradients, and runs as it is: call the module under torch.inference_mode() or torch.no_grad()",
                      RuntimeWarning, stacklevel=2)
        return graph.forward
    return CompiledGraph(graph, example_inputs, chosen)
