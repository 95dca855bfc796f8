"""Softmaxes, normalizations, losses: what a row says about its elements."""
import numpy as np

from recipes import recipe

EPSILON = [1e-5, 1e-3, 0.5, 1e-12]


@recipe("Softmax", "LogSoftmax", "Hardmax")
def softmax(d):
    shape = d.shape(1, 4)
    axes = list(range(len(shape))) + (list(range(-len(shape), 0)) if d.version >= 11 else [])
    attributes = d.some(axis=axes)
    if d.version < 13 and len(shape) == 1:
        attributes["axis"] = 0  # the default of these versions is 1
    return d.case([d.values(shape, d.type())], attributes)


@recipe("LayerNormalization")
def layer_normalization(d):
    shape = d.shape(1, 4, 0.0)
    axis = d.axis(len(shape))
    rest = shape[axis:]
    attributes = d.some(epsilon=EPSILON, stash_type=[1]) | ({} if axis in (-1, len(shape) - 1) and d.flag() else {"axis": axis})
    dtype = d.type()
    scale = d.narrowed(rest) if d.flag(0.2) else rest
    bias = [d.floats(d.narrowed(rest) if d.flag(0.2) else rest, dtype)] if d.flag(0.6) else []
    return d.case([d.values(shape, dtype), d.floats(scale, dtype)] + bias, attributes, d.one([True], [True], [True, True, True], [True, False, True]))


@recipe("RMSNormalization")
def rms_normalization(d):
    shape = d.shape(1, 4, 0.0)
    axis = d.axis(len(shape))
    attributes = d.some(epsilon=EPSILON, stash_type=[1]) | ({} if axis in (-1, len(shape) - 1) and d.flag() else {"axis": axis})
    dtype = d.type()
    return d.case([d.values(shape, dtype), d.floats(d.narrowed(shape[axis:]) if d.flag(0.2) else shape[axis:], dtype)], attributes)


@recipe("SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization")
def simplified_layer_normalization(d):
    shape = d.shape(1, 4, 0.0)
    axis = d.axis(len(shape))
    return d.case([d.values(shape), d.floats(shape[axis:])], d.some(epsilon=EPSILON, stash_type=[1]) | {"axis": axis}, d.one(1, 2))


@recipe("InstanceNormalization")
def instance_normalization(d):
    shape = d.dims(d.integer(3, 5))
    dtype = d.type()
    return d.case([d.values(shape, dtype), d.floats(shape[1:2], dtype), d.floats(shape[1:2], dtype)], d.some(epsilon=EPSILON))


@recipe("GroupNormalization")
def group_normalization(d):
    groups = d.integer(1, 3)
    shape = [d.integer(1, 2), groups * d.integer(1, 3)] + d.dims(d.integer(1, 3))
    count = shape[1] if d.version >= 21 else groups
    dtype = d.type()
    attributes = d.some(epsilon=EPSILON) | (d.some(stash_type=[1]) if d.version >= 21 else {})
    return d.case([d.values(shape, dtype), d.floats([count], dtype), d.floats([count], dtype)], attributes | {"num_groups": groups})


@recipe("BatchNormalization")
def batch_normalization(d):
    shape = d.dims(d.integer(2, 5))
    dtype = d.type(0)
    weights = d.type(1) if d.version >= 15 else dtype
    moments = d.type(3) if d.version >= 14 else dtype
    c = shape[1:2]
    attributes = d.some(epsilon=EPSILON, momentum=[0.9, 0.5]) | (d.some(training_mode=[0, 0, 0, 1]) if d.version >= 14 else {})
    outputs = 3 if attributes.get("training_mode") else 1
    return d.case([d.values(shape, dtype), d.floats(c, weights), d.floats(c, weights), d.maybe_fixed(d.values(c, moments), 0.6),
                   d.maybe_fixed(d.positive(c, moments), 0.6)], attributes, outputs)


@recipe("LpNormalization")
def lp_normalization(d):
    shape = d.shape(1, 4, 0.0)
    return d.case([d.values(shape, d.type())], d.some(axis=list(range(-len(shape), len(shape))), p=[1, 2]))


@recipe("MeanVarianceNormalization")
def mean_variance_normalization(d):
    shape = d.dims(4)
    return d.case([d.values(shape, d.type())], d.some(axes=[[0, 2, 3], [1], [0, 1, 2, 3], [2, 3], [-1]]))


@recipe("LRN")
def lrn(d):
    shape = d.dims(d.integer(3, 5))
    return d.case([d.values(shape, d.type())], d.some(alpha=[1e-4, 0.5, 2.0], beta=[0.75, 0.5, 1.0], bias=[1.0, 2.0]) | {"size": d.one(1, 2, 3, 4, 5)})


@recipe("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
def loss(d):
    batch, classes = d.integer(1, 4), d.integer(1, 5)
    rest = d.dims(d.integer(0, 2))
    attributes = d.some(reduction=["none", "mean", "sum"], ignore_index=[0, 1, -1, -100])
    kind = d.one(np.int64, np.int32)
    labels = np.asarray(d.rng.integers(0, classes, [batch] + rest)).astype(kind)
    if "ignore_index" in attributes and attributes["ignore_index"] < 0:
        labels = np.where(d.rng.random(labels.shape) < 0.3, attributes["ignore_index"], labels).astype(kind)
    dtype = d.type()
    weights = [d.maybe_fixed(d.positive([classes], dtype))] if d.flag() else []
    outputs = 2 if d.op == "SoftmaxCrossEntropyLoss" and d.flag() else 1
    return d.case([d.values([batch, classes] + rest, dtype), d.maybe_fixed(labels)] + weights, attributes, outputs)
