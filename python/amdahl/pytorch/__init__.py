"""What needs PyTorch. Imported by `amdahl` when it is asked for."""
