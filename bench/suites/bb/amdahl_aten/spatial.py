"""Pools, samples of images and norms."""
import math

import torch

from . import views
from .layouts import like, strides_in_order
from .reductions import along
from .views import call, copy, fill, scratch, view


def several(x, count):
    x = [x] if isinstance(x, int) else list(x)
    return x * count if len(x) == 1 else x


def windows(length, kernel, stride, padding, ceil_mode):
    span = length + 2 * padding - kernel
    count = (-(-span // stride) if ceil_mode else span // stride) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= length + padding else count


def three(v, space):
    """The last `space` dimensions as three."""
    front = v.rank - space
    return v.with_((*v.size[:front], *[1] * (3 - space), *v.size[front:]), (*v.stride[:front], *[0] * (3 - space), *v.stride[front:]))


def pool(kernel, tensor, sizes, parameters=()):
    space = len(sizes)
    size = (*tensor.shape[:-space], *sizes)
    channels_last = tensor.dim() == space + 2 and not tensor.is_contiguous() and tensor.stride(1) == 1
    order = [0, *range(2, tensor.dim()), 1] if channels_last else list(range(tensor.dim()))
    out = torch.empty_strided(size, strides_in_order(size, order), dtype=tensor.dtype)
    call(kernel, [three(view(out), space)], [three(view(tensor), space)], parameters, tensor.dim() - space)
    return out


def average(tensor, space, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    kernel, paddings = several(kernel_size, space), several(padding, space)
    strides = several(stride, space) if stride not in ([], (), None) else kernel
    sizes = [windows(n, k, s, p, ceil_mode) for n, k, s, p in zip(tensor.shape[-space:], kernel, strides, paddings)]
    front = 3 - space
    parameters = [*[1] * front, *kernel, *[1] * front, *strides, *[0] * front, *paddings, count_include_pad, divisor_override or 0]
    return pool("avg_pool", tensor, sizes, parameters)


def avg_pool2d__default(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return average(self, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d__default(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return average(self, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _adaptive_avg_pool2d__default(self, output_size):
    return pool("adaptive_avg_pool", self, several(output_size, 2))


def _adaptive_avg_pool3d__default(self, output_size):
    return pool("adaptive_avg_pool", self, several(output_size, 3))


def grid_sample(input, grid, mode, padding, align_corners):
    n, channels, places = input.shape[0], input.shape[1], tuple(grid.shape[1:-1])
    out = torch.empty((n, channels, *places), dtype=input.dtype)
    g = view(grid).unsqueeze(1)
    call("grid_sample", [view(out)], [view(input), g.expand((n, channels, *g.size[2:]))], [mode, padding, align_corners], 2)
    return out


def grid_sampler_2d__default(input, grid, interpolation_mode, padding_mode, align_corners):
    return grid_sample(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d__default(input, grid, interpolation_mode, padding_mode, align_corners):
    return grid_sample(input, grid, interpolation_mode, padding_mode, align_corners)


def scale_of(length, result, align_corners, given):
    """Pixels of the source a pixel of the result."""
    if align_corners:
        return (length - 1) / (result - 1) if result > 1 else 0
    return 1 / given if given else length / result


def _upsample_bilinear2d_aa__default(self, output_size, align_corners, scales_h=None, scales_w=None):
    height, width = output_size
    wide = scratch((*self.shape[:-1], width), torch.float64)
    along("stretch", [wide], [view(self)], -1, [scale_of(self.shape[-1], width, align_corners, scales_w)])
    out = torch.empty((*self.shape[:-2], height, width), dtype=self.dtype)
    along("stretch", [view(out)], [wide], -2, [scale_of(self.shape[-2], height, align_corners, scales_h)])
    return out


def of_ones(tensor, otherwise):
    """A View of a weight or, where there is none, of a number."""
    if tensor is not None:
        return view(tensor)
    number = scratch((), torch.float32)
    fill(number, otherwise)
    return number


def native_layer_norm__default(input, normalized_shape, weight, bias, eps):
    inner, outer = len(normalized_shape), input.dim() - len(normalized_shape)
    out = torch.empty(input.shape, dtype=input.dtype)
    kept = [torch.empty((*input.shape[:outer], *[1] * inner), dtype=input.dtype) for _ in range(2)]
    numbers = [view(k).with_(k.shape[:outer], k.stride()[:outer]) for k in kept]
    call("layer_norm", [view(out), *numbers], [view(input), *(of_ones(t, d).expand(input.shape) for t, d in ((weight, 1), (bias, 0)))], [eps], outer)
    return out, *kept


def native_group_norm__default(input, weight, bias, N, C, HxW, group, eps):
    source = scratch((N, group, C // group, HxW), input.dtype)
    copy(source.with_(input.shape, views.dense_strides(input.shape)), view(input))
    channels_last = input.dim() == 4 and not input.is_contiguous() and input.is_contiguous(memory_format=torch.channels_last)
    out = torch.empty_strided(input.shape, strides_in_order(input.shape, [0, 2, 3, 1] if channels_last else list(range(input.dim()))), dtype=input.dtype)
    normalised = scratch(source.size, input.dtype)
    kept = [torch.empty((N, group), dtype=input.dtype) for _ in range(2)]
    factors = []
    for t, otherwise in ((weight, 1), (bias, 0)):
        v = of_ones(t, otherwise)
        factors.append((v.with_((group, C // group, 1), (C // group * v.stride[0], v.stride[0], 0)) if v.rank else v).expand(source.size))
    call("layer_norm", [normalised, *map(view, kept)], [source, *factors], [eps], 2)
    copy(view(out), normalised.with_(input.shape, views.dense_strides(input.shape)))
    return out, *kept


def channels(v):
    return v.permute([1, 0, *range(2, v.rank)])


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """out, mean, reciprocal deviation; the running statistics follow in place."""
    out, count = like(input), input.shape[1]
    kept = [torch.empty((count if training else 0,), dtype=input.dtype) for _ in range(2)]
    numbers = [view(k) if training else scratch((count,), torch.float32) for k in kept]
    statistics = [view(t) if t is not None else scratch((count,), torch.float64) for t in (running_mean, running_var)]
    for statistic, given in zip(statistics, (running_mean, running_var)):
        if given is None:
            fill(statistic, 0)
    ins = [channels(view(input)), *(of_ones(t, d).expand((count,)) for t, d in ((weight, 1), (bias, 0))), *statistics]
    call("batch_norm", [channels(view(out)), *numbers, *statistics], ins, [eps, momentum, training], 1)
    return out, *kept


def native_batch_norm__default(input, weight, bias, running_mean, running_var, training, momentum, eps):
    return batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


_native_batch_norm_legit__default = native_batch_norm__default


def _native_batch_norm_legit__no_stats(input, weight, bias, training, momentum, eps):
    return batch_norm(input, weight, bias, None, None, True, momentum, eps)


def _batch_norm_with_update__default(input, weight, bias, running_mean, running_var, momentum, eps):
    """With memory that a card's library would keep for the backward pass: none here."""
    return *batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps), torch.empty((0,), dtype=torch.uint8)
