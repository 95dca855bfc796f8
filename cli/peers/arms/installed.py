"""Prints, as one line of JSON, which of the runtimes this interpreter has, and which shipped models have a definition in PyTorch."""
import importlib.metadata
import json

import torch_models

WANTED = ("onnxruntime", "openvino", "torch", "torchvision", "transformers", "numpy")

packages = {}
for distribution in importlib.metadata.distributions():
    name = (distribution.metadata["Name"] or "").lower()
    if name in WANTED or name.startswith("onnxruntime-"):
        packages.setdefault(name, distribution.version)
print(json.dumps({"packages": packages, "torch_names": torch_models.PACKAGES}))
