"""PyTorch: torch_arm.py SOURCE INPUT_DIR THREADS {eager|compiled|max-autotune} {f32|bf16}

SOURCE: a shipped model, as its own libraries define it (torch_models.py); FILE.py with make(), which returns (module, tuple of example inputs); or another file,
such a pair as torch.save wrote it.

Compiled: torch.compile with weights frozen, which is what CPU inference is advised to use; max-autotune: the same in that mode, which tries its
own kernels beside the library's and takes minutes to start. bf16: autocast. Images are laid out channels last.

A saved pair has the weights of the model, and its outputs are held against others'. What is made has other random numbers of the same shapes and work: it is compared
with its own, eager in fp32."""
import importlib.util
import os
import sys
import time

import arm
import torch
import torch_models


def pair_of(source):
    """The module, and its example inputs; None where the model's inputs are all there is."""
    if source in torch_models.PACKAGES:
        return torch_models.build(source), None
    sys.path.insert(0, os.path.dirname(os.path.abspath(source)))
    if not source.endswith(".py"):
        return torch.load(source, weights_only=False)
    spec = importlib.util.spec_from_file_location("definition", source)
    definition = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(definition)
    return definition.make()


def feeds_of(examples, given):
    """The model's inputs as the module takes them: a comparison on other shapes would be none."""
    given = [torch.from_numpy(a) for a in given]
    if examples is None:
        return given
    wanted, had = ([tuple(t.shape) for t in tensors] for tensors in (examples, given))
    if wanted != had:
        sys.exit(f"its example inputs have the shapes {wanted}, the model's inputs {had}: give it the same, in the same order")
    return [g.to(e.dtype) for e, g in zip(examples, given)]


def tensors_in(out):
    """In order, whatever holds them; what is not there (a cache that is off) is left out."""
    if isinstance(out, torch.Tensor):
        return [out]
    if hasattr(out, "to_tuple"):
        out = out.to_tuple()
    elif isinstance(out, dict):
        out = tuple(out.values())
    return [t for part in out for t in tensors_in(part)] if isinstance(out, (tuple, list)) else []


def to_arrays(out):
    return [t.float().numpy() if t.is_floating_point() else t.numpy() for t in tensors_in(out)]


def main():
    source, inputs, threads, form, precision = sys.argv[1:6]
    start = time.perf_counter()
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    model, examples = pair_of(source)
    model = model.eval()
    feeds = feeds_of(examples, arm.load_inputs(inputs).values())
    if feeds and feeds[0].dim() == 4:
        model = model.to(memory_format=torch.channels_last)
        feeds[0] = feeds[0].contiguous(memory_format=torch.channels_last)

    def outputs_of(model, autocast):
        with torch.inference_mode(form == "eager"), torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            return model(*feeds)

    reference = to_arrays(outputs_of(model, False))
    if form != "eager":
        from torch._inductor import config
        config.freezing = True  # wants no_grad, not inference_mode
        model = torch.compile(model, mode="max-autotune" if form == "max-autotune" else None)

    def run():
        return outputs_of(model, precision == "bf16")

    for _ in range(3):
        run()  # compiles
    arm.serve(run, (time.perf_counter() - start) * 1e3, to_arrays, reference)


if __name__ == "__main__":  # what compiles in processes of its own imports this file again
    main()
