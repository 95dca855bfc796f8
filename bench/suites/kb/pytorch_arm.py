"""PyTorch's arm of a problem: pytorch_arm.py PROBLEM.py eager|compiled MODEL.onnx INPUT_DIR THREADS. Inputs are drawn from the timing's seed, which gave INPUT_DIR its numbers too."""
import os
import sys
import time

import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, os.pardir, os.pardir, os.pardir, "cli", "peers", "arms")]
import arm as protocol  # noqa: E402  (cli/peers/arms)
from problem import Problem, tensors_of  # noqa: E402

path, form = sys.argv[1:3]
torch.set_num_threads(int(sys.argv[5]))
start = time.perf_counter()
problem = Problem(path)
arguments = problem.arguments()


def compiled():
    from torch._inductor import config
    config.freezing = True  # what inference on a processor is advised to use; what training mode writes to is left out
    return torch.compile(problem.module)


with torch.no_grad():  # frozen weights want this one, not inference_mode
    call = compiled() if form == "compiled" else problem.module
    problem.reset()
    call(*arguments)  # compiles

    def run():
        problem.reset()
        return call(*arguments)

    protocol.serve(run, (time.perf_counter() - start) * 1e3, lambda out: [t.numpy() for t in tensors_of(out)])
