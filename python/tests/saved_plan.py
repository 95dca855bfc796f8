"""For clean_root: saves a tuned plan in one root, and loads it in another that has neither a compiler nor the program.

    saved_plan.py save|load|save-module|load-module FOLDER        (…-module: a torch.nn.Module)
"""
import os
import shutil
import struct
import sys
from typing import Any, List, Sequence

import amdahl
import tuned


def require_nothing_here() -> None:
    for name in ("g++", "gcc", "cc", "c++", "amdahl"):
        assert shutil.which(name) is None, f"{name} is here"
    try:
        amdahl.Session("x.amdahl").status()
    except amdahl.MachineError:
        return
    raise AssertionError("the program is here")


def require_close(got: Sequence[float], want: Sequence[float]) -> None:
    assert len(got) == len(want) and max(map(abs, want)) > 0.1
    worst = max(abs(g - w) for g, w in zip(got, want))
    assert worst < 1e-4, worst
    print(f"{len(got)} numbers, at most {worst:.1e} off")


def save(folder: str) -> None:
    tuned.set_up()
    shutil.copytree(tuned.plan_folder(), folder)
    tuned.tear_down()


def load(folder: str) -> None:
    require_nothing_here()
    plan = amdahl.Plan(folder)
    print(f"verified: {plan.verify():.1e} of {plan.facts['limit']:.1e}")
    out = plan.run(*tuned.good_call())[0]
    require_close(struct.unpack(f"<{len(out) // 4}f", out), tuned.answer())


def _module() -> Any:
    import torch
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).eval()


def _inputs() -> List[float]:
    return [0.1 * (i % 13) - 0.6 for i in range(4 * 32)]


def save_module(folder: str) -> None:
    import torch
    fast = amdahl.optimize(_module(), (torch.tensor(_inputs()).reshape(4, 32),), minutes=0.2, progress=False)
    amdahl.save(fast, folder)


def load_module(folder: str) -> None:
    import torch
    require_nothing_here()
    x = torch.tensor(_inputs()).reshape(4, 32)
    with torch.no_grad():
        fast = amdahl.load(folder)
        require_close(fast(x).flatten().tolist(), _module()(x).flatten().tolist())
    assert fast.fast_calls == 1


if __name__ == "__main__":
    what, where = sys.argv[1:]
    {"save": save, "load": load, "save-module": save_module, "load-module": load_module}[what](os.path.abspath(where))
