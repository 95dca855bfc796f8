"""One way to call one of the twelve modules, in a process of its own: arm.py NAME eager|compiled|max-autotune|onnxruntime|amdahl THREADS MINUTES MODEL.onnx INPUT_DIR …

Called from Python as its user calls it: tensors in, a new output each time. For the protocol see docs/compare.md, which adds the file."""
import os
import sys
import time

import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, os.pardir, os.pardir, "cli", "peers", "arms")]
import arm as protocol  # noqa: E402  (cli/peers/arms)

sys.path[:0] = [here]
import twelve  # noqa: E402

name, form, threads, minutes = sys.argv[1:5]
torch.set_num_threads(int(threads))
start = time.perf_counter()
module, _ = twelve.make(name)
arguments = [torch.from_numpy(a) for a in protocol.load_inputs(sys.argv[6]).values()]  # the same for all arms


def made(form):
    if form == "amdahl":
        import amdahl
        return amdahl.optimize(module, arguments, minutes=float(minutes), progress=False)
    if form == "onnxruntime":
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(threads)
        session = onnxruntime.InferenceSession(sys.argv[5], options, providers=["CPUExecutionProvider"])
        names = [i.name for i in session.get_inputs()]
        return lambda *tensors: [torch.from_numpy(o) for o in session.run(None, {n: t.numpy() for n, t in zip(names, tensors)})]
    if form == "eager":
        return module
    from torch._inductor import config
    config.freezing = True  # weights as constants: what inference on a CPU is advised to use
    return torch.compile(module, mode="max-autotune" if form == "max-autotune" else None)


with torch.no_grad():  # frozen weights want this one, not inference_mode
    call = made(form)
    for _ in range(3):
        call(*arguments)  # compiles

    def run():
        return call(*arguments)

    protocol.serve(run, (time.perf_counter() - start) * 1e3, lambda out: [t.float().numpy() for t in twelve.tensors_of(out)])
