"""The strides that PyTorch gives to the results of its operators."""
import torch

from .views import View, view


def broadcast(*sizes):
    rank = max(map(len, sizes), default=0)
    result = []
    for d in range(-rank, 0):
        lengths = {s[d] for s in sizes if len(s) >= -d} - {1}
        if len(lengths) > 1:
            raise RuntimeError(f"sizes {', '.join(map(str, map(tuple, sizes)))} do not broadcast")
        result.append(lengths.pop() if lengths else 1)
    return tuple(result)


def is_dense(size, stride):
    """Fills its memory without holes or overlaps, in some order of its dimensions."""
    step = 1
    for length, s in sorted(((length, s) for length, s in zip(size, stride) if length != 1), key=lambda pair: pair[1]):
        if s != step:
            return False
        step *= length
    return True


def outermost_first(size, strides):
    """The order of dimensions that PyTorch's iterator walks in, by the strides of all inputs: the first one that tells two dimensions apart decides."""
    def swaps(a, b):
        for stride in strides:
            if stride[a] == 0 or stride[b] == 0:
                continue
            if stride[a] != stride[b]:
                return -1 if stride[a] < stride[b] else 1
            if size[a] > size[b]:
                return 1
        return 0
    order = list(reversed(range(len(size))))  # innermost first
    for i in range(1, len(order)):
        at = i
        for before in range(i - 1, -1, -1):
            how = swaps(order[before], order[at])
            if how > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif how < 0:
                break
    return order[::-1]


def strides_in_order(size, outer_first):
    stride, step = [0] * len(size), 1
    for d in reversed(outer_first):
        stride[d] = step
        step *= max(size[d], 1)
    return stride


def strides_of_result(size, inputs):
    """Of an operator of single numbers; inputs are Views of the same rank or less."""
    whole = [v for v in inputs if v.size == tuple(size)]
    if len(whole) == len(inputs) and inputs and len({v.stride for v in inputs}) == 1 and is_dense(size, inputs[0].stride) and 0 not in size:
        return inputs[0].stride
    return strides_in_order(size, outermost_first(size, [v.expand(size).stride for v in inputs]))


def result(inputs, dtype, size=None):
    """Memory for an operator of single numbers over these Views."""
    size = broadcast(*(v.size for v in inputs)) if size is None else tuple(size)
    return torch.empty_strided(size, strides_of_result(size, inputs), dtype=dtype)


def like(tensor, dtype=None, memory_format=None):
    """As empty_like and clone make it."""
    size = tuple(tensor.shape)
    if memory_format in (None, torch.preserve_format):
        dense = is_dense(size, tensor.stride())
        stride = tensor.stride() if dense else strides_of_result(size, [view(tensor)])
    elif memory_format == torch.contiguous_format:
        stride = strides_in_order(size, list(range(len(size))))
    elif memory_format == torch.channels_last:
        stride = strides_in_order(size, [0, 2, 3, 1])
    else:
        stride = strides_in_order(size, [0, 2, 3, 4, 1])
    return torch.empty_strided(size, stride, dtype=dtype or tensor.dtype)


def viewed(tensor, size, stride, elements):
    """A tensor in the memory of another."""
    return tensor.as_strided(tuple(size), tuple(stride), tensor.storage_offset() + elements)


def as_tensor(tensor, v):
    """A view of a tensor that was turned or cut here, as a tensor."""
    assert isinstance(v, View)
    return viewed(tensor, v.size, v.stride, (v.at - tensor.data_ptr()) // tensor.element_size())
