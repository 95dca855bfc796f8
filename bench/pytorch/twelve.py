"""Twelve public models with random weights, as their own libraries define them: what `bench/pytorch/run` measures.

BatchNorm gets random statistics: with fresh ones outputs of mobilenet_v3 and efficientnet are near 1e-15, and no error says anything."""
import torch


class Output(torch.nn.Module):
    """The tensor that is compared: some models give several, or a dictionary with the hidden state in it."""

    def __init__(self, module, pick):
        super().__init__()
        self.module, self.pick = module, pick

    def forward(self, *args, **kwargs):
        return self.pick(self.module(*args, **kwargs))


def tensors_of(value):
    """Those of what a module returns, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else []
    return [t for v in values for t in tensors_of(v)]


def with_statistics(module):
    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
            torch.nn.init.uniform_(part.weight, 0.5, 1.5)
            torch.nn.init.normal_(part.bias, 0, 0.1)
    return module


def picture():
    return (torch.randn(1, 3, 224, 224),)


def words(vocabulary, length=64):
    return (torch.randint(0, vocabulary, (1, length)),)


def vision(name):
    import torchvision
    return with_statistics(getattr(torchvision.models, name)(weights=None)), picture()


def timm(name):
    import timm as library
    return with_statistics(library.create_model(name, pretrained=False)), picture()


def distilbert():
    import transformers as t
    config = t.DistilBertConfig()
    return t.DistilBertModel(config), words(config.vocab_size)


def gpt2():
    import transformers as t
    config = t.GPT2Config(n_layer=4, n_embd=256, n_head=4, use_cache=False)
    return t.GPT2LMHeadModel(config), words(config.vocab_size)


def t5_encoder():
    import transformers as t
    config = t.T5Config(use_cache=False)
    return t.T5EncoderModel(config), words(config.vocab_size)


def whisper_encoder():
    import transformers as t
    config = t.WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536, decoder_layers=4, decoder_attention_heads=6,
                             decoder_ffn_dim=1536)
    return t.WhisperModel(config).get_encoder(), (torch.randn(1, 80, 3000),)


def llama():
    import transformers as t
    config = t.LlamaConfig(hidden_size=768, intermediate_size=3072, num_hidden_layers=2, num_attention_heads=12, vocab_size=32000, use_cache=False)
    return t.LlamaForCausalLM(config), words(config.vocab_size)


def modernbert():
    import transformers as t
    config = t.ModernBertConfig(num_hidden_layers=6, reference_compile=False)
    return t.ModernBertModel(config), words(config.vocab_size, 128)


MODELS = {
    "resnet18": lambda: vision("resnet18"),
    "mobilenet_v3_small": lambda: vision("mobilenet_v3_small"),
    "efficientnet_b0": lambda: vision("efficientnet_b0"),
    "swin_t": lambda: vision("swin_t"),
    "vit_tiny": lambda: timm("vit_tiny_patch16_224"),
    "convnext_tiny": lambda: timm("convnext_tiny"),
    "distilbert": distilbert,
    "gpt2_4_layers": gpt2,
    "t5_encoder": t5_encoder,
    "whisper_tiny_encoder": whisper_encoder,
    "llama_2_layers": llama,
    "modernbert": modernbert,
}


def make(name):
    """The module in evaluation mode and the arguments that it is called with."""
    torch.manual_seed(0)
    module, arguments = MODELS[name]()
    return module.eval(), arguments
