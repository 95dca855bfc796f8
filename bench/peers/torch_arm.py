"""PyTorch with the architecture as its own libraries define it (random weights):
torch_arm.py NAME INPUT_DIR THREADS {eager|compiled} {f32|bf16}

Compiled: torch.compile with weights frozen, which is what CPU inference is advised to use. bf16: autocast.

Its outputs are not compared: the weights are other random numbers; shapes and work are the same."""
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
if form == "compiled":
    import torch._inductor.config
    torch._inductor.config.freezing = True
    model = torch.compile(model)
feeds = [torch.from_numpy(a) for a in arm.load_inputs(inputs).values()]
if name == "bert-base":  # our order of inputs is input_ids, attention_mask, token_type_ids
    feeds = feeds[:3]


def run():
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
        out = model(*feeds)
    out = out if isinstance(out, torch.Tensor) else out[0]
    return [out.float().numpy()]


for _ in range(3):
    run()  # compiles
arm.serve(run, (time.perf_counter() - start) * 1e3)
