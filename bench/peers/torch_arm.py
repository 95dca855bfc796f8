"""PyTorch with the architecture as its own libraries define it (random weights):
torch_arm.py NAME INPUT_DIR THREADS {eager|compiled|max-autotune} {f32|bf16}

Compiled: torch.compile with weights frozen, which is what CPU inference is advised to use; max-autotune: the same in that mode, which tries its
own kernels beside the library's and takes minutes to start. bf16: autocast. Images are laid out channels last.

The weights are other random numbers than ours, shapes and work are the same: its outputs are compared with its own, eager in fp32."""
import sys
import time

import torch

import arm

name, inputs, threads, form, precision = sys.argv[1:6]
start = time.perf_counter()
torch.set_num_threads(int(threads))
torch.manual_seed(0)


def build(name):
    if name in ("resnet50", "mobilenet-v2", "vit-b16"):
        import torchvision.models as tv
        return {"resnet50": tv.resnet50, "mobilenet-v2": tv.mobilenet_v2, "vit-b16": tv.vit_b_16}[name](weights=None)
    import transformers as tr
    if name == "gpt2":
        return tr.GPT2LMHeadModel(tr.GPT2Config(use_cache=False))
    if name == "bert-base":
        return tr.BertModel(tr.BertConfig())
    if name == "llama-160m":
        return tr.LlamaForCausalLM(tr.LlamaConfig(hidden_size=768, intermediate_size=3072, num_hidden_layers=12,
                                                  num_attention_heads=12, vocab_size=32000, use_cache=False))
    raise SystemExit(f"no PyTorch definition for '{name}'")


model = build(name).eval()
feeds = [torch.from_numpy(a) for a in arm.load_inputs(inputs).values()]
if name == "bert-base":  # our order of inputs is input_ids, attention_mask, token_type_ids
    feeds = feeds[:3]
if feeds[0].dim() == 4:
    model = model.to(memory_format=torch.channels_last)
    feeds[0] = feeds[0].contiguous(memory_format=torch.channels_last)


def outputs_of(model, autocast):
    with torch.inference_mode(form == "eager"), torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        out = model(*feeds)
    return out if isinstance(out, torch.Tensor) else out[0]


def to_arrays(out):
    return [out.float().numpy()]


reference = to_arrays(outputs_of(model, False))
if form != "eager":
    import torch._inductor.config
    torch._inductor.config.freezing = True  # wants no_grad, not inference_mode
    model = torch.compile(model, mode="max-autotune" if form == "max-autotune" else None)


def run():
    return outputs_of(model, precision == "bf16")


for _ in range(3):
    run()  # compiles
arm.serve(run, (time.perf_counter() - start) * 1e3, to_arrays, reference)
