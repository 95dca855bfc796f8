"""PyTorch's types by the program's names."""
import torch

TORCH_DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8, "i16": torch.int16,
                "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool}
for _name in ("uint16", "uint32", "uint64"):  # PyTorch 2.3 and later
    if hasattr(torch, _name):
        TORCH_DTYPES["u" + _name[4:]] = getattr(torch, _name)
