"""The shipped architectures as PyTorch's own libraries define them, with random weights."""

VISION = {"resnet50": "resnet50", "mobilenet-v2": "mobilenet_v2", "vit-b16": "vit_b_16"}
LANGUAGE = ("gpt2", "gpt2-mini", "bert-base", "bert-mini", "llama-160m", "llama-mini")
PACKAGES = {**dict.fromkeys(VISION, "torchvision"), **dict.fromkeys(LANGUAGE, "transformers")}


def build(name):
    if name in VISION:
        import torchvision.models
        return getattr(torchvision.models, VISION[name])(weights=None)
    import transformers as tr
    if name.startswith("gpt2"):
        size = dict(vocab_size=307, n_positions=64, n_embd=64, n_head=4, n_layer=2) if name == "gpt2-mini" else {}
        return tr.GPT2LMHeadModel(tr.GPT2Config(use_cache=False, **size))
    if name.startswith("bert"):
        size = dict(vocab_size=307, max_position_embeddings=64, hidden_size=64, intermediate_size=256, num_attention_heads=4, num_hidden_layers=2) if name == "bert-mini" else {}
        return tr.BertModel(tr.BertConfig(**size))
    size = (dict(hidden_size=64, intermediate_size=160, num_hidden_layers=2, num_attention_heads=4, vocab_size=307) if name == "llama-mini" else
            dict(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, vocab_size=32000))
    return tr.LlamaForCausalLM(tr.LlamaConfig(use_cache=False, **size))
