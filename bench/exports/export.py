"""export.py FOLDER [NAME …]: writes FOLDER/NAME/model.onnx with other people's exporters, of their own models at published size.

Models come from transformers, torchvision and timm, made from their configurations with random weights: nothing is downloaded.
What such a start leaves constant (norm scales, biases, running means, layer scales near zero) is drawn too, so that a step that
drops one of them shows in the outputs. What is there is skipped. Without NAME: all."""
import argparse
import inspect
import os
import shutil
import sys
import traceback
import warnings

import torch

IMAGE = 224


class Outputs(torch.nn.Module):
    """A model of transformers with its inputs by position and one tensor as output."""

    def __init__(self, model, names, output):
        super().__init__()
        self.model, self.names, self.output = model, names, output

    def forward(self, *inputs):
        return getattr(self.model(**dict(zip(self.names, inputs))), self.output)


def text(model, output, length=128, vocabulary=30000, mask=True):
    ids = torch.randint(0, vocabulary, (1, length))
    inputs = {"input_ids": ids, **({"attention_mask": torch.ones(1, length, dtype=torch.int64)} if mask else {})}
    return Outputs(model, list(inputs), output), inputs


def image(model, size=IMAGE):
    return model, {"image": torch.randn(1, 3, size, size)}


def roberta_base():
    from transformers import RobertaConfig, RobertaModel
    config = RobertaConfig(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5)
    return text(RobertaModel(config, add_pooling_layer=False), "last_hidden_state")


def distilbert_base():
    from transformers import DistilBertConfig, DistilBertForSequenceClassification
    return text(DistilBertForSequenceClassification(DistilBertConfig()), "logits")


def pythia_70m():
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM
    config = GPTNeoXConfig(vocab_size=50304, hidden_size=512, num_hidden_layers=6, num_attention_heads=8, intermediate_size=2048,
                           max_position_embeddings=2048, use_cache=False)
    return text(GPTNeoXForCausalLM(config), "logits", mask=False)


def t5_small_encoder():
    from transformers import T5Config, T5EncoderModel
    return text(T5EncoderModel(T5Config()), "last_hidden_state")


def whisper_tiny_encoder():
    from transformers import WhisperConfig, WhisperModel
    config = WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536, decoder_layers=4,
                           decoder_attention_heads=6, decoder_ffn_dim=1536)
    encoder = WhisperModel(config).encoder
    return Outputs(encoder, ["input_features"], "last_hidden_state"), {"input_features": torch.randn(1, 80, 3000)}


def torchvision_model(name, size=IMAGE, **options):
    def make():
        import torchvision
        return image(torchvision.models.get_model(name, weights=None, **options), size)
    return make


def deeplab():
    """Segmentation: dilated convolutions and bilinear resizing."""
    import torchvision
    model = torchvision.models.get_model("deeplabv3_mobilenet_v3_large", weights=None, weights_backbone=None, num_classes=21)

    class Masks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, image):
            return self.model(image)["out"]

    return image(Masks(), 256)


def timm_model(name, size=IMAGE):
    def make():
        import timm
        return image(timm.create_model(name, pretrained=False), size)
    return make


# name: (exporter, maker). "dynamo" is torch.onnx.export's newer exporter, "legacy" the one by TorchScript.
MODELS = {
    "roberta-base": ("legacy", roberta_base),
    "distilbert-base": ("dynamo", distilbert_base),
    "pythia-70m": ("dynamo", pythia_70m),
    "t5-small-encoder": ("legacy", t5_small_encoder),
    "whisper-tiny-encoder": ("dynamo", whisper_tiny_encoder),
    "swin-t": ("dynamo", torchvision_model("swin_t")),
    "convnext-tiny": ("legacy", torchvision_model("convnext_tiny")),
    "efficientnet-b0": ("dynamo", torchvision_model("efficientnet_b0")),
    "regnet-y-800mf": ("legacy", torchvision_model("regnet_y_800mf")),
    "densenet121": ("dynamo", torchvision_model("densenet121")),
    "mobilenet-v3-large": ("legacy", torchvision_model("mobilenet_v3_large")),
    "deeplabv3-mobilenet": ("dynamo", deeplab),
    "mobilevit-s": ("legacy", timm_model("mobilevit_s", 256)),
    "efficientformer-l1": ("dynamo", timm_model("efficientformer_l1")),
}


def draw_constants(model):
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if not tensor.is_floating_point() or tensor.numel() < 2 or tensor.min() != tensor.max():
            continue
        with torch.no_grad():
            if tensor.flatten()[0] == 0:
                tensor.normal_(0, 0.1)
            else:
                tensor.uniform_(0.5, 1.5)


def export(exporter, model, inputs, path):
    options = {"input_names": list(inputs), "output_names": ["output"], "dynamo": exporter == "dynamo"}
    if exporter == "legacy":
        options["opset_version"] = 17
    if "verbose" in inspect.signature(torch.onnx.export).parameters:
        options["verbose"] = False
    with torch.no_grad():
        torch.onnx.export(model, tuple(inputs.values()), path, **options)


def make(folder, name):
    exporter, maker = MODELS[name]
    torch.manual_seed(7)
    model, inputs = maker()
    model.eval()
    draw_constants(model)
    part = os.path.join(folder, name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    os.makedirs(part)
    export(exporter, model, inputs, os.path.join(part, "model.onnx"))
    with open(os.path.join(part, "exporter.txt"), "w") as out:
        out.write(exporter + "\n")
    os.rename(part, os.path.join(folder, name))  # weights may lie in a file of their own: whole or not at all


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the names")
    options = parser.parse_args()
    if options.list:
        return print("\n".join(MODELS))
    if not options.folder:
        parser.error("FOLDER is missing")
    unknown = [n for n in options.names if n not in MODELS]
    if unknown:
        parser.error(f"no such export: {', '.join(unknown)}; there are {', '.join(MODELS)}")
    warnings.filterwarnings("ignore")
    os.makedirs(options.folder, exist_ok=True)
    for name in options.names or MODELS:
        if os.path.exists(os.path.join(options.folder, name, "model.onnx")):
            continue
        print(f"exporting {name} ({MODELS[name][0]})", file=sys.stderr, flush=True)
        try:
            make(options.folder, name)
        except Exception:  # an exporter's own failure: the others go on
            print(f"{name}: its exporter failed: {traceback.format_exc().strip().splitlines()[-1]}", file=sys.stderr)


if __name__ == "__main__":
    main()
