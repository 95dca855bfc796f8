"""What of PyTorch a kernel calls while it runs, seen where PyTorch hands its operators out."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Memory, views of memory, a sparse tensor around indices and values that are there, and which type two types make.
ALLOWED = {"aten.empty.memory_format", "aten.empty_strided.default", "aten.as_strided.default", "aten.set_.source_Storage_storage_offset",
           "aten._sparse_coo_tensor_with_dims_and_tensors.default", "aten._sparse_coo_tensor_unsafe.default",
           "aten.promote_types.default"}


class Watched(TorchDispatchMode):
    """`computed` are the operators that are not allowed."""

    def __init__(self):
        super().__init__()
        self.computed = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if str(function) not in ALLOWED:
            self.computed.add(str(function))
        return function(*args, **(kwargs or {}))


def computed_by(kernel, args, kwargs):
    """Names of the operators of PyTorch that the kernel leaves its work to."""
    with torch.no_grad(), Watched() as watched:
        kernel(*args, **kwargs)
    return sorted(watched.computed)
