"""PyTorch on a card, inside a CUDA graph, with the architecture as its own libraries define it (random weights):
torch_arm.py NAME FORM DTYPE

FORM: eager, compiled or max-autotune. One run is one replay between two events, as ours is; outside of a graph a model of batch 1 waits for the host, and
every ratio would be an advertisement. Images are laid out channels last. The protocol is that of docs/compare.md."""
import os
import sys
import time

import torch
import torch._inductor.config

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", "peers", "arms"))
import arm  # noqa: E402

KEYS = 512  # of a decode step: those that it attends to, its own one among them


class Decode(torch.nn.Module):
    """One token behind KEYS - 1 others: the cache is an input, the logits are the output."""

    def __init__(self, model, layers, heads, width):
        super().__init__()
        self.model, self.layers = model, layers
        self.shape = (1, heads, KEYS - 1, width)

    def forward(self, token, *past):
        from transformers.cache_utils import DynamicCache
        cache = DynamicCache()
        for i in range(self.layers):
            cache.update(past[2 * i], past[2 * i + 1], i)
        position = torch.full((1, 1), KEYS - 1, device=token.device)
        return self.model(token, past_key_values=cache, position_ids=position, use_cache=True).logits


def vision(name, batch):
    import torchvision.models as tv
    model = {"resnet50": tv.resnet50, "mobilenet-v2": tv.mobilenet_v2, "vit-b16": tv.vit_b_16}[name](weights=None)
    return model, lambda dtype: [torch.randn(batch, 3, 224, 224, device="cuda", dtype=dtype).contiguous(memory_format=torch.channels_last)]


def language(name):
    import transformers as tr
    if name.startswith("bert-base"):
        model = tr.BertModel(tr.BertConfig())
        return model, lambda dtype: [torch.randint(0, 1000, (1, 128), device="cuda"), torch.ones(1, 128, device="cuda", dtype=torch.int64),
                                     torch.zeros(1, 128, device="cuda", dtype=torch.int64)]
    decodes = name.endswith("-decode")
    if name.startswith("gpt2"):
        model = tr.GPT2LMHeadModel(tr.GPT2Config(use_cache=decodes))
    elif name.startswith("llama-160m"):
        model = tr.LlamaForCausalLM(tr.LlamaConfig(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, vocab_size=32000,
                                                   use_cache=decodes))
    else:
        raise SystemExit(f"no PyTorch definition for '{name}'")
    if not decodes:
        return model, lambda dtype: [torch.randint(0, 1000, (1, 128), device="cuda")]
    return Decode(model, 12, 12, 64), lambda dtype: [torch.randint(0, 1000, (1, 1), device="cuda"),
                                                     *(torch.randn(1, 12, KEYS - 1, 64, device="cuda", dtype=dtype) for _ in range(24))]


def build(name):
    """The model, and what makes its inputs. "resnet50-b8" is a batch of 8."""
    stem, eight, _ = name.partition("-b8")
    if stem in ("resnet50", "mobilenet-v2", "vit-b16"):
        return vision(stem, 8 if eight else 1)
    return language(name)


def logits_of(out):
    return out if isinstance(out, torch.Tensor) else out[0]


def captured(run):
    """A graph of run(), after enough runs of it that everything is compiled and allocated."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(5):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = run()
    return graph, out


def main():
    name, form, precision = sys.argv[1:4]
    start = time.perf_counter()
    torch.manual_seed(0)
    dtype = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}[precision]
    model, inputs_of = build(name)
    model, inputs = model.eval().to("cuda", dtype), inputs_of(dtype)
    if inputs[0].dim() == 4:
        model = model.to(memory_format=torch.channels_last)
    with torch.inference_mode(form == "eager"), torch.no_grad():
        if form != "eager":
            torch._inductor.config.freezing = True
            # Graphs are ours to make: inductor's own would be captured inside of them.
            model = torch.compile(model, mode="max-autotune-no-cudagraphs" if form == "max-autotune" else None)
        graph, out = captured(lambda: logits_of(model(*inputs)))
        before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

        def replay():
            before.record()
            graph.replay()
            after.record()
            torch.cuda.synchronize()
            return before.elapsed_time(after)

        replay()
        if not torch.isfinite(out).all():
            raise SystemExit("its outputs are not finite")
        arm.serve_clocked(replay, (time.perf_counter() - start) * 1e3)


main()
