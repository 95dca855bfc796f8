"""PyTorch's operators by Amdahl's library of kernels: a module a family, a function a folder of BackendBench.

PyTorch is asked for memory, shapes, strides, types and addresses, and for views of its tensors; all numbers are computed in ../library."""
