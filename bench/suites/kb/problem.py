"""A problem of KernelBench: its Model with its weights and inputs, drawn from the seeds that KernelBench's harness draws them from.

As there, a model with a BatchNorm stays in training mode: it normalises by the statistics of its batch. Exporters write the kept statistics instead, so the ONNX file is made of a
copy in which that is spelled out. Where training mode draws at random (Dropout with p > 0) no file can say the same: those problems are in evaluation mode in all
arms, and reported apart. Floating inputs are float32, as there; integers stay integers (there they are cast, which its losses refuse)."""
import copy
import inspect

import torch

SEED, TRIALS = 42, 5
TOLERANCE = 1e-4  # get_tolerance_for_precision(torch.float32) of its src/kernelbench/eval.py: both atol and rtol


class BatchStatistics(torch.nn.Module):
    """A BatchNorm in training mode, but for the statistics that it keeps."""

    def __init__(self, norm):
        super().__init__()
        self.weight, self.bias, self.eps = norm.weight, norm.bias, norm.eps

    def forward(self, x):
        axes, shape = [d for d in range(x.dim()) if d != 1], [1, -1] + [1] * (x.dim() - 2)
        centred = x - x.mean(axes, keepdim=True)
        y = centred / torch.sqrt((centred * centred).mean(axes, keepdim=True) + self.eps)
        return y if self.weight is None else y * self.weight.reshape(shape) + self.bias.reshape(shape)


def is_random(module):
    return any(isinstance(m, torch.nn.modules.dropout._DropoutNd) and m.p > 0 for m in module.modules())


def has_batch_norm(module):
    return any(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in module.modules())


def with_batch_statistics(module):
    """A copy for exporters, in evaluation mode, that computes what the module does in training mode."""
    made = copy.deepcopy(module).eval()
    for name, part in list(made.named_modules()):
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            parent, _, last = name.rpartition(".")
            setattr(made.get_submodule(parent), last, BatchStatistics(part))
    return made


class Problem:
    def __init__(self, path):
        self.names = {"__name__": "problem"}
        with open(path) as file:
            exec(compile(file.read(), path, "exec"), self.names)  # as KernelBench does
        torch.manual_seed(SEED)
        init = self.names["get_init_inputs"]()
        torch.manual_seed(SEED)
        with torch.no_grad():
            self.module = self.names["Model"](*init).float()
        self.random = is_random(self.module)
        if self.random or not has_batch_norm(self.module):  # nothing else asks which mode it is in, and torch.compile freezes more in this one
            self.module.eval()
        self._state = {name: value for name, value in vars(self.module).items() if isinstance(value, torch.Tensor)}

    def reset(self):
        """Before each call: some recurrent models keep their last hidden state as an attribute, where a file begins with the first."""
        vars(self.module).update(self._state)

    def arguments(self, seed=SEED):
        """SEED's are those of its timing."""
        torch.manual_seed(seed)
        return [a.float() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in self.names["get_inputs"]()]

    def for_export(self):
        return with_batch_statistics(self.module) if self.module.training else self.module

    def input_names(self, arguments):
        """Of the arguments that are tensors, by their place: what a file's inputs are called."""
        parameters = list(inspect.signature(self.module.forward).parameters)
        return {k: parameters[k] if k < len(parameters) else f"input_{k}" for k, a in enumerate(arguments) if isinstance(a, torch.Tensor)}


def trial_seeds():
    torch.manual_seed(SEED)
    return [torch.randint(0, 2**32 - 1, (1,)).item() for _ in range(TRIALS)]


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors_of(v)] if isinstance(value, (tuple, list)) else []
