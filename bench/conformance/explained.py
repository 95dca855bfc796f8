"""Differences whose reason is known. A row names the operator, what says otherwise, when, and why the program is right.

A row must be as narrow as it can be: it is the only way for a difference to be counted as anything but unexplained. Where a reference computes
less precisely than float32 can, the row says how far off it may be.
"""
import dataclasses
import math
import re
from typing import Callable

import numpy as np
from onnx import helper

from cases import Fixed
from references import LETTER, ONNX, ONNX_FLOAT64, ORT

BOTH_ONNX = (ONNX, ONNX_FLOAT64)


@dataclasses.dataclass
class Difference:
    """Of the element that differs most."""
    text: str
    ours: float = math.nan
    stated: float = math.nan
    at: int = 0

    @property
    def is_of_numbers(self):
        return " is " in self.text and "element" in self.text

    def is_rounded(self, dtype):
        """What is stated, rounded once to an element type, is what the program says."""
        return self.ours == float(np.dtype(dtype).type(self.stated))

    def within(self, relative, absolute=0.0):
        return abs(self.ours - self.stated) <= relative * abs(self.stated) + absolute


def parse(text):
    found = re.search(r"element (\d+) is (\S+?)(?: \+- \S+)?, (?:not|and may be) (\S+)$", text)
    return Difference(text, float(found[2]), float(found[3]), int(found[1])) if found else Difference(text)


@dataclasses.dataclass
class Row:
    ops: str
    of: tuple
    when: Callable  # of the case and the difference
    reason: str
    seconded: tuple = ()  # one of these must have been asked and agree with the program


def dtype(case, i=0):
    return getattr(case.inputs[i], "array", case.inputs[i]).dtype


def shape(case, i=0):
    return getattr(case.inputs[i], "array", case.inputs[i]).shape


def has(case, i):
    return len(case.inputs) > i and case.inputs[i] is not None


def has_infinity(case):
    return any(np.isinf(a).any() for a in case.arrays().values())


def resized(case):
    """Scales of a Resize by axis, where they are given."""
    at = 1 if case.opset == 10 else 2
    return getattr(case.inputs[at], "array", None) if has(case, at) else None


def of_doubles(case):
    return case.array(0).dtype == np.float64


def same_padding(case):
    return str(case.attributes.get("auto_pad", "")).startswith("SAME")


def pads_less_than_nothing(case):
    """SAME_* where the standard's formula for the padding gives a negative number: strides longer than the kernel."""
    if not same_padding(case):
        return False
    spatial = shape(case)[2:]
    n = len(spatial)
    kernel = case.attributes.get("kernel_shape") or shape(case, 1)[2:]
    strides, dilations = case.attributes.get("strides", [1] * n), case.attributes.get("dilations", [1] * n)
    reach = [(k - 1) * r + 1 for k, r in zip(kernel, dilations)]
    if case.op == "ConvTranspose":
        return any(s * (i - 1) + k < i * s for i, s, k in zip(spatial, strides, reach))
    return any((-(-i // s) - 1) * s + k < i for i, s, k in zip(spatial, strides, reach))


def position(mode, x, scale, n, out, start, end):
    """Of a Resize: where output x lies in the input."""
    resized = scale * n
    return {"half_pixel": lambda: (x + 0.5) / scale - 0.5, "asymmetric": lambda: x / scale, "tf_half_pixel_for_nn": lambda: (x + 0.5) / scale,
            "pytorch_half_pixel": lambda: (x + 0.5) / scale - 0.5 if out > 1 else 0,
            "align_corners": lambda: x * (n - 1) / (resized - 1) if out > 1 else 0,
            "half_pixel_symmetric": lambda: n / 2 * (1 - out / resized) + (x + 0.5) / scale - 0.5,
            "tf_crop_and_resize": lambda: start * (n - 1) + x * (end - start) * (n - 1) / (out - 1) if out > 1 else 0.5 * (start + end) * (n - 1),
            }[mode]()


def between_elements(case):
    """A Resize one of whose positions is within 1e-5 of where rounding turns from one element to the next, or where a region leaves the input."""
    is_nearest = case.attributes.get("mode", "nearest") == "nearest"
    rank = len(shape(case))
    axes = [a % rank for a in case.attributes.get("axes", range(rank))]
    region = case.array(1) if has(case, 1) and case.array(1).size and case.opset > 10 else [0.0] * len(axes) + [1.0] * len(axes)
    scales = case.array(1) if case.opset == 10 else case.array(2) if has(case, 2) and case.array(2).size else None
    mode = "asymmetric" if case.opset == 10 else case.attributes.get("coordinate_transformation_mode", "half_pixel")
    for i, a in enumerate(axes):
        n = shape(case)[a]
        out = int(n * float(scales[i])) if scales is not None else int(case.array(3)[i])
        scale = float(scales[i]) if scales is not None else out / n
        for x in range(out):
            at = position(mode, x, scale, n, out, float(region[i]), float(region[len(axes) + i]))
            if is_nearest and scale != 1 and abs(2 * at - round(2 * at)) < 1e-5:
                return True
            begin, end = float(region[i]), float(region[len(axes) + i])
            if mode == "tf_crop_and_resize" and (begin, end) != (0, 1) and min(abs(at), abs(at - (n - 1))) < 1e-5:
                return True
    return False


def keeps_its_shape(case):
    """A Resize to sizes whose output is as large as its input."""
    if not has(case, 3):
        return False
    rank = len(shape(case))
    old = [shape(case)[a % rank] for a in case.attributes.get("axes", range(rank))]
    scales = [int(new) / n for new, n in zip(case.array(3), old)]
    policy = case.attributes.get("keep_aspect_ratio_policy", "stretch")
    common = {"stretch": None, "not_larger": min(scales), "not_smaller": max(scales)}[policy]
    return all(int((s if common is None else common) * n + 0.5) == n for s, n in zip(scales, old))


def beyond_the_example(case):
    """A recurrence of which onnx.reference, written as an example, leaves a part out."""
    a = case.attributes
    clipped_or_coupled = "clip" in a or a.get("input_forget") == 1
    return has(case, 4) or a.get("direction", "forward") != "forward" or "activations" in a or clipped_or_coupled or a.get("layout") == 1


def meets_a_threshold(case):
    """A recurrence with a ThresholdedRelu whose inputs are clipped to its threshold."""
    thresholds = case.attributes.get("activation_alpha", []) + [1.0]
    return "ThresholdedRelu" in case.attributes.get("activations", []) and case.attributes.get("clip") in thresholds


def cancellation(case):
    """Of a GroupNormalization: how much larger the mean square of a group is than its variance."""
    rows = case.array(0).astype(np.float64).reshape(shape(case)[0], case.attributes["num_groups"], -1)
    return ((rows ** 2).mean(2) / (rows.var(2) + case.attributes.get("epsilon", 1e-5))).max()


def output_type(case):
    return np.dtype(helper.tensor_dtype_to_np_dtype(case.attributes["output_dtype"])) if "output_dtype" in case.attributes else None


def is_constant(case):
    return all(x is None or isinstance(x, Fixed) for x in case.inputs)


def has_room(case):
    """A cache, of GroupQueryAttention, that is longer than what some sequence holds."""
    return has(case, 3) and int(case.array(5).min()) + 1 - shape(case)[1] < shape(case, 3)[2]


def dilated(case):
    return any(r > 1 for r in case.attributes.get("dilations", [1]))


def pads_positions(case):
    return case.attributes.get("padding_mode") == "border" and "cubic" in case.attributes.get("mode", "")


EXPLAINED = [
    Row("RoiAlign", BOTH_ONNX, lambda c, d: c.opset < 16, "it moves coordinates by half an element; until 16 nothing did", (ORT,)),
    Row("MaxUnpool", (ORT,), lambda c, d: has(c, 2), "it counts places in output_shape; ONNX's own case counts in the image that the windows say (decision 0024)", BOTH_ONNX),
    Row("GridSample", BOTH_ONNX, lambda c, d: pads_positions(c) and len(shape(c)) == 4, "it moves positions to the border; the program, elements (decision 0024)", (ORT,)),
    Row("GridSample", BOTH_ONNX, lambda c, d: pads_positions(c) and len(shape(c)) != 4, "the same, where ONNX Runtime has no cubic"),
    Row("GridSample DeformConv", (ONNX,), lambda c, d: dtype(c) == np.float64 and d.within(1e-5, 1e-5), "its positions are float32 numbers"),
    Row("BatchNormalization", BOTH_ONNX, lambda c, d: c.opset < 14,
        "before 14 it takes the batch's own mean and variance; a node of one output is in test mode and uses those given", (LETTER, ORT)),
    Row("Softmax LogSoftmax Hardmax", BOTH_ONNX, lambda c, d: c.opset < 13, "it runs over one axis; until 12 all from `axis` on are one", (LETTER, ORT)),
    Row("LpNormalization", BOTH_ONNX, lambda c, d: c.attributes.get("p") == 1, "it sums elements for p=1; the norm sums their absolute values", (LETTER, ORT)),
    Row("GlobalMaxPool", BOTH_ONNX, lambda c, d: "[" in d.text, "it reduces by the rank of two spatial dimensions, whatever the rank is", (LETTER, ORT)),
    Row("LRN", BOTH_ONNX, lambda c, d: True, "its window ends at min(N, ...), of the batch, where the standard has C - 1", (LETTER, ORT)),
    Row("LRN", (ORT,), lambda c, d: d.within(1e-4), "it keeps a running sum of squares, adding and taking away, which cancels", (LETTER,)),
    Row("NegativeLogLikelihoodLoss", BOTH_ONNX,
        lambda c, d: "ignore_index" in c.attributes and not has(c, 2) and c.attributes.get("reduction", "mean") == "mean",
        "its mean divides by all labels; the standard by those that are not ignored"),
    Row("Dropout", BOTH_ONNX, lambda c, d: c.opset < 10 and "not bool" in d.text, "the mask of 7 has the input's type"),
    Row("Dropout", (ORT,), lambda c, d: c.opset < 12 and d.text.startswith("output 1"),
        "its mask is of zeros; the standard says from 12 on what it is in inference: all true"),
    Row("ReduceSumSquare", (ONNX,), lambda c, d: dtype(c).kind in "iu" and "[" in d.text, "NumPy widens the sum; the output's type is the input's"),
    Row("ReduceMin ReduceMax", (ORT,), lambda c, d: math.isnan(d.ours) and d.is_of_numbers, "it drops NaN where it sorts lanes; onnx.reference agrees with the program"),
    Row("NonZero", (ORT,), lambda c, d: shape(c) == (), "a scalar has no dimension: the output is [0, N]"),
    Row("OneHot", (ONNX,), lambda c, d: d.within(0, 1e-5), "it computes off + hot * (on - off), which rounds"),
    Row("MeanVarianceNormalization", (ORT,), lambda c, d: math.isnan(d.stated) and d.ours == 0, "it leaves out the 1e-9 beside the deviation: 0 / 0"),
    Row("Attention", BOTH_ONNX, lambda c, d: c.attributes.get("is_causal") == 1 and has(c, 3) and shape(c, 3)[-2] == 1,
        "its triangle has the shape of the mask before that is repeated: one row for all queries"),
    Row("Gelu Mish HardSwish Softsign com.microsoft.Gelu com.microsoft.QuickGelu com.microsoft.FastGelu com.microsoft.BiasGelu", (ONNX, ONNX_FLOAT64, ORT),
        lambda c, d: math.isnan(d.stated) and has_infinity(c),
        "at an infinity it multiplies infinity by 0; the program takes the function's limit (decision 0024)"),
    Row("Shrink", (ORT,), lambda c, d: dtype(c) == np.float64 and d.within(2**-22, 2**-23 * abs(c.array(0).flat[d.at]) + 1e-44),
        "it computes float64 in float32, the input rounded before the bias is taken away", (ONNX,)),
    Row("Unsqueeze", BOTH_ONNX, lambda c, d: c.opset < 13 and "[" in d.text and (min(c.attributes["axes"]) < 0 or sorted(c.attributes["axes"]) != list(c.attributes["axes"])),
        "it inserts one axis after another, each counted in what is there so far"),
    Row("Attention", (ORT,), lambda c, d: dtype(c) == np.float16 and d.within(2**-8, 2**-9 * abs(c.array(2).astype(np.float64)).max()),
        "it rounds scores and weights to float16 on the way, weights of a sum of V", (ONNX,)),
    Row("Erf Gelu", (ONNX,), lambda c, d: dtype(c) == np.float64 and d.within(2e-7, 2e-7), "its Erf is a polynomial good for 1e-7"),
    Row("Gelu HardSwish", (ONNX, ORT), lambda c, d: dtype(c) == np.float64 and d.within(1e-7, 5e-8), "constants of the function's body are float32 numbers"),
    Row("Sigmoid com.microsoft.QuickGelu", (ORT,), lambda c, d: d.within(1e-4, 1e-6), "a rational approximation of the logistic function, clamped at 18"),
    Row("com.microsoft.FusedConv com.microsoft.FusedGemm Swish", (ORT,),
        lambda c, d: c.attributes.get("activation", "Sigmoid") == "Sigmoid" and d.within(1e-3, 1e-6),
        "a rational approximation of the logistic function, clamped at 18"),
    Row("HannWindow HammingWindow BlackmanWindow", (ONNX, ORT), lambda c, d: d.within(1e-5, 5e-8), "it computes in float32, or with constants in float32"),
    Row("DFT STFT", (ORT,), lambda c, d: d.within(1e-4, 1e-4), "a fast transform in float32: what it rounds is of the whole signal, where a product has zeros"),
    Row("Attention", (ORT,), lambda c, d: c.attributes.get("is_causal") == 1 and has(c, 4),
        "behind a cache it counts a query's position from the last key back, where there are more new keys than queries", (ONNX,)),
    Row("BatchNormalization", (ORT,), lambda c, d: c.attributes.get("training_mode") == 1 and d.within(1e-3, 1e-4),
        "it multiplies before it takes the mean away, which cancels", (ONNX,)),
    Row("BatchNormalization", BOTH_ONNX, lambda c, d: len({a.dtype for a in c.arrays().values()}) > 1 and ("[" in d.text or d.within(1e-3, 1e-3)),
        "of several types it computes statistics, or constants, in the narrower one, and gives the running mean the type of X"),
    Row("BatchNormalization", (ONNX_FLOAT64,), lambda c, d: c.attributes.get("training_mode") == 1 and d.text.startswith(("output 1", "output 2"))
        and d.is_rounded(dtype(c, 3)), "the running statistics are rounded to halves, as they are typed, when they are written", (ORT,)),
    Row("DequantizeLinear", (ONNX_FLOAT64,), lambda c, d: is_constant(c) and d.is_rounded(dtype(c, 1)),
        "of constants it is computed while the model is loaded, and kept in the element type", (ONNX, ORT)),
    Row("DequantizeLinear", (ONNX, ONNX_FLOAT64), lambda c, d: np.float16 in (dtype(c, 1), output_type(c)) and d.is_rounded(np.float16),
        "a half is rounded as it is written"),
    Row("GroupNormalization", (ONNX, ORT), lambda c, d: abs(d.ours - d.stated) <= 2**-22 * cancellation(c) * (abs(d.ours) + abs(c.array(2)).max()),
        "its body takes the variance as E[x^2] - E[x]^2 in float32, which cancels", (LETTER,)),
    Row("Softplus", (ORT,), lambda c, d: math.isinf(d.stated) and d.ours > 700, "it takes the exponential of a double, which overflows"),
    Row("ReduceProd", (ORT,), lambda c, d: dtype(c).kind in "iu" and d.is_of_numbers, "it multiplies integers as floats, and ends at the type's ends", (ONNX,)),
    Row("DFT STFT AffineGrid", (ONNX,), lambda c, d: d.within(0, 1e-12), "what is nothing by symmetry it rounds to something"),
    Row("DFT", (ORT,), lambda c, d: c.attributes.get("inverse") == 1 and c.attributes.get("onesided") == 1,
        "of a one-sided inverse it takes bins beyond its length into the sum", (ONNX,)),
    Row("Col2Im", (ORT,), lambda c, d: len(c.array(1)) > 2, "in three dimensions it puts blocks elsewhere", (ONNX, ONNX_FLOAT64)),
    Row("com.microsoft.GroupQueryAttention", (ORT,), lambda c, d: d.text.startswith(("output 1", "output 2")) and d.stated == 0 and has_room(c),
        "beyond what a sequence holds it fills the cache with zeros; the program leaves what was there. Nobody reads it"),
    Row("Attention", (ONNX, ORT), lambda c, d: of_doubles(c) and d.within(1e-4, 1e-6), "it computes scale, softmax or products of doubles in floats"),
    Row("Slice", BOTH_ONNX, lambda c, d: "[" in d.text, "NumPy's rule for a start before the first element and a negative step; the standard clamps it to the first"),
    Row("Resize", (ORT,), lambda c, d: c.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch" and min(c.attributes.get("axes", [0])) < 0,
        "it does not see negative axes when it keeps the aspect ratio"),
    Row("Resize", (ORT,), lambda c, d: resized(c) is not None and any(int(n * s) == n and s != 1 for n, s in zip(shape(c), resized(c))),
        "it copies along an axis whose length stays, although its scale is not 1"),
    Row("Resize", (ORT,), lambda c, d: keeps_its_shape(c) and c.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize",
        "it copies where the output is as large as the input, whatever the region is"),
    Row("Resize", (ORT,), lambda c, d: c.attributes.get("coordinate_transformation_mode") == "align_corners" and resized(c) is not None
        and any(n * s != int(n * s) for n, s in zip(shape(c), resized(c))),
        "length_resized is a fraction where a scale makes it one (onnx.reference agrees); it takes the whole part"),
    Row("Resize", (ORT,), lambda c, d: c.attributes.get("coordinate_transformation_mode") == "align_corners"
        and c.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch",
        "length_resized is a fraction where the common scale makes it one, as ONNX's own case of a scale has it; it takes the whole part", (ONNX,)),
    Row("Resize", (ONNX,), lambda c, d: c.attributes.get("coordinate_transformation_mode") == "tf_half_pixel_for_nn" and keeps_its_shape(c),
        "it copies where nothing changes its length; the mode's formula adds half a pixel there too"),
    Row("Resize", (ONNX, ORT), lambda c, d: resized(c) is not None and c.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize",
        "the output is as long as the region times the scale, in whole elements; it takes the input times the scale, or a fraction"),
    Row("Resize", BOTH_ONNX, lambda c, d: c.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch"
        and c.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize",
        "it spreads the region over the input times the common scale, a fraction, where the standard has the output's length", (ORT,)),
    Row("Resize", (ONNX, ORT), lambda c, d: c.attributes.get("mode") in ("linear", "cubic") and d.within(1e-5, 1e-5),
        "it computes positions in float32, the program in float64"),
    Row("Resize", (ORT,), lambda c, d: c.attributes.get("coordinate_transformation_mode") == "tf_half_pixel_for_nn",
        "along an axis of scale 1 it copies; the mode's formula adds half a pixel there too"),
    Row("Resize", BOTH_ONNX, lambda c, d: c.attributes.get("coordinate_transformation_mode") == "pytorch_half_pixel",
        "an axis of length 1 is read at -0.5; the standard says at 0"),
    Row("MaxPool AveragePool LpPool", (ORT,), lambda c, d: same_padding(c) and dilated(c), "it leaves dilations out of the padding for SAME_*", (LETTER,)),
    Row("MaxPool AveragePool LpPool", BOTH_ONNX, lambda c, d: c.attributes.get("auto_pad") == "VALID" and c.attributes.get("ceil_mode") == 1,
        "it leaves ceil_mode out with VALID; ONNX's shape inference and ONNX Runtime round up, as the program does"),
    Row("MaxPool AveragePool LpPool", BOTH_ONNX, lambda c, d: True,
        "its pools round SAME_LOWER down, leave out dilations of VALID, read pads axis by axis, count indices down columns", (LETTER, ORT)),
    Row("MaxPool AveragePool LpPool", (ONNX, ONNX_FLOAT64, ORT), lambda c, d: pads_less_than_nothing(c),
        "a padding for SAME_* that would be negative: the two do not agree on it either; the program pads nothing"),
    Row("ConvTranspose", (ORT,), lambda c, d: pads_less_than_nothing(c), "its output for SAME_* is no longer than what the kernel reaches"),
    Row("ConvTranspose", (ONNX, ONNX_FLOAT64, LETTER), lambda c, d: pads_less_than_nothing(c) and d.is_of_numbers,
        "a padding for SAME_* that would be negative: it begins with some of it; the program and ONNX Runtime pad nothing"),
    Row("Resize", (ONNX, ONNX_FLOAT64, ORT), lambda c, d: between_elements(c),
        "a position lies between two elements, where float32 and float64 round to either side"),
    Row("ConvTranspose", BOTH_ONNX, lambda c, d: c.attributes.get("group", 1) > 1,
        "of several groups it writes one channel each and adds the first ones' bias", (LETTER, ORT)),
    Row("ConvTranspose", BOTH_ONNX, lambda c, d: "output_shape" in c.attributes and any(c.attributes.get("output_padding", [])) and d.is_of_numbers,
        "it begins an odd padding as if there were no output_padding", (LETTER, ORT)),
    Row("Clip", BOTH_ONNX, lambda c, d: math.isinf(d.stated), "an absent limit is the largest finite number, it leaves infinities", (LETTER, ORT)),
    Row("Clip", (ORT,), lambda c, d: dtype(c) == np.float16 and math.isinf(d.stated), "of halves it takes the function apart, and leaves infinities where a limit is absent", (LETTER,)),
    Row("Loop", BOTH_ONNX, lambda c, d: "[" in d.text, "it joins what it collects along a dimension that is there; the standard says a new one", (ORT,)),
    Row("Loop", BOTH_ONNX, lambda c, d: not has(c, 1), "without a condition it runs no step", (ORT,)),
    Row("LSTM GRU RNN", BOTH_ONNX, lambda c, d: beyond_the_example(c),
        "it computes the forward direction over all steps with the usual activations alone, and without clip and input_forget", (LETTER, ORT)),
    Row("LSTM GRU RNN", (ORT,), lambda c, d: meets_a_threshold(c),
        "its ThresholdedRelu lets nothing through at the threshold itself, where the clipped sums lie; the standard's recurrences say x >= alpha", (LETTER,)),
    Row("LSTM GRU RNN", (ORT,), lambda c, d: "Softplus" in c.attributes.get("activations", []) and not math.isfinite(d.stated),
        "its Softplus is log(1 + exp(x)) as it stands, which overflows", (LETTER,)),
    Row("LSTM GRU RNN", (ORT,), lambda c, d: d.within(1e-6, 1e-6), "its sigmoid and tanh are rational approximations, clamped; each step reads those before it",
        (LETTER,)),
    Row("MeanVarianceNormalization", (ONNX,), lambda c, d: d.within(2e-3), "it takes the variance as E[x^2] - E[x]^2 in float32, which cancels"),
]


def explanation(case, reference, text, agreeing):
    op = (case.domain + "." if case.domain else "") + case.op
    difference = parse(text)
    for row in EXPLAINED:
        if op in row.ops.split() and reference in row.of and row.when(case, difference) and (not row.seconded or agreeing & set(row.seconded)):
            return row.reason
    return None
