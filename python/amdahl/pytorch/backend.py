"""torch.compile(module, backend="amdahl", options={…}).

Dynamo hands over a graph whose parameters and buffers are inputs. They are bound as constants, which exporters fold and kernels pack, and looked at in
every call: with others than those, or when they have changed, the graph itself is run."""
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from ..errors import AmdahlError, BadUsage
from ..progress import Progress, Shown
from .optimize import Example, Job
from .optimized import OptimizedModule

_OPTIONS = ("minutes", "mode", "allow", "max_error", "progress", "never_slower")
_MOST_SIZES = 16  # plans of one graph with open sizes
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


class CompiledGraph:
    """What Dynamo calls: flat inputs, a tuple out."""

    def __init__(self, graph: torch.fx.GraphModule, example: Sequence[Any], options: Dict[str, Any]) -> None:
        self.graph, self.options = graph, options
        places = [n for n in graph.graph.nodes if n.op == "placeholder"]
        self.weights = [i for i, (n, v) in enumerate(zip(places, example)) if _is_weight(n, v)]
        self.sizes = [i for i, v in enumerate(example) if not isinstance(v, torch.Tensor)]
        self._weight_set = set(self.weights)
        self._fast: Dict[Tuple[Any, ...], Optional[OptimizedModule]] = {}
        self._constants: List[Any] = [example[i] for i in self.weights]
        self._lock = threading.Lock()
        if not self.sizes:
            self._prepare((), list(example))

    def __call__(self, *arguments: Any) -> Any:
        sizes = tuple([arguments[i] for i in self.sizes])
        if sizes not in self._fast and len(self._fast) < _MOST_SIZES:
            self._prepare(sizes, list(arguments))
        fast = self._fast.get(sizes)
        if fast is None or not self._same_weights(arguments):
            return self.graph(*arguments)
        skip = self._weight_set
        out = fast(*[a for i, a in enumerate(arguments) if i not in skip and i not in self.sizes])
        return out if isinstance(out, (tuple, list)) else (out,)

    def _same_weights(self, arguments: Sequence[Any]) -> bool:
        for i, weight in zip(self.weights, self._constants):
            if arguments[i] is not weight:
                return False
        return True

    def _prepare(self, sizes: Tuple[Any, ...], arguments: List[Any]) -> None:
        """Tunes for these sizes; in mode "later" behind the running program."""
        with self._lock:
            if sizes in self._fast:
                return
            self._fast[sizes] = None
        fixed = {i: arguments[i] for i in [*self.weights, *self.sizes]}
        inputs = [a for i, a in enumerate(arguments) if i not in fixed]
        if any(not isinstance(v, (int, float, bool)) for i, v in fixed.items() if i in self.sizes) or not inputs:
            return  # symbols, not numbers: the first call brings those
        module = Bound(self.graph, fixed, len(arguments)).eval()
        job = self._job(module, tuple(inputs))
        if job is None:
            return
        if self.options["mode"] == "later":
            threading.Thread(target=self._tune_behind, args=(sizes, job), daemon=True, name="amdahl").start()
        else:
            self._tune(sizes, job, self.options["minutes"], self.options["progress"])

    def _tune_behind(self, sizes: Tuple[Any, ...], job: Job) -> None:
        """First what needs no search: seconds, where minutes come after."""
        if self._tune(sizes, job, _MINUTES_AT_ONCE, False):
            self._tune(sizes, job, self.options["minutes"], self.options["progress"])

    def _job(self, module: Bound, inputs: Tuple[Any, ...]) -> Optional[Job]:
        try:
            job = Job(module, Example(module, tuple(t.detach() for t in inputs)), self.options["allow"], self.options["max_error"], name="graph",
                      never_slower=self.options["never_slower"])
            job.export()  # not behind the running program, whose output it would take away: exporters are silenced for the whole process
            return job
        except AmdahlError as error:
            self._left_alone(error)
            return None

    def _tune(self, sizes: Tuple[Any, ...], job: Job, minutes: float, progress: Shown) -> bool:
        try:
            self._fast[sizes] = job.tune_and_load(minutes, Progress(job.name, progress))
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
