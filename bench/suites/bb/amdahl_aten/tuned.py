"""The signatures that Amdahl tuned: compiled plans (`amdahl export --format compiled`), which take the place of the general kernel where types and sizes are theirs, all
tensors are dense and nothing else is given. tuned_table.py beside this file, which ../../tune.py writes, says where they lie."""
import ctypes
import os

import torch

from .tuned_table import PLANS

COMPUTED = 0


def names_of(args):
    """As in the table: types and sizes of tensors; None where anything else is among the arguments."""
    if not all(isinstance(a, torch.Tensor) and a.is_contiguous() and a.device.type == "cpu" and a.numel() for a in args):
        return None
    return tuple((str(a.dtype), *a.shape) for a in args)


class Plan:
    """Loaded at its first call."""

    def __init__(self, place, dtype, size):
        self.place, self.dtype, self.size, self.handle = os.path.join(os.path.dirname(os.path.abspath(__file__)), place), dtype, size, None

    def load(self):
        loaded = ctypes.CDLL(os.path.join(self.place, "libamdahl-plan.so"))
        loaded.amdahl_plan_load.restype = ctypes.c_void_p
        loaded.amdahl_plan_load.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int), ctypes.c_char_p, ctypes.c_size_t]
        loaded.amdahl_plan_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        said, code = ctypes.create_string_buffer(2000), ctypes.c_int()
        self.handle = loaded.amdahl_plan_load(self.place.encode(), ctypes.byref(code), said, len(said))
        if not self.handle:
            raise RuntimeError(f"{self.place}: {said.value.decode()}")
        self.run = loaded.amdahl_plan_run

    def __call__(self, *args):
        if not self.handle:
            self.load()
        out = torch.empty(self.size, dtype=type_named(self.dtype))
        addresses = (ctypes.c_void_p * len(args))(*(a.data_ptr() for a in args))
        if self.run(self.handle, addresses, (ctypes.c_void_p * 1)(out.data_ptr())) != COMPUTED:
            raise RuntimeError(f"{self.place}: nothing was computed")
        return out


def type_named(name):
    return {"torch.float32": torch.float32, "torch.float64": torch.float64, "torch.bfloat16": torch.bfloat16}[name]


def behind(folder, kernel):
    """The kernel, with the plans of its folder before it."""
    plans = {tuple(signature): Plan(*found) for (owner, *signature), found in PLANS.items() if owner == folder}
    if not plans:
        return kernel

    def chosen(*args, **kwargs):
        plan = None if kwargs else plans.get(names_of(args))
        return plan(*args) if plan else kernel(*args, **kwargs)
    return chosen
