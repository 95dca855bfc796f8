"""Pooling."""
from recipes import recipe
from recipes.products import window


def pooled(d, dilated):
    spatial = d.one(1, 2, 2, 2, 3)
    kernel = [d.integer(1, 4) for _ in range(spatial)]
    attributes = window(d, spatial, kernel) | {"kernel_shape": kernel}
    if not dilated:
        attributes.pop("dilations", 0)
    reach = [(k - 1) * r + 1 for k, r in zip(kernel, attributes.get("dilations", [1] * spatial))]
    shape = [d.integer(1, 2), d.integer(1, 3)] + [n + d.integer(0, 5 if spatial < 3 else 2) for n in reach]
    return shape, attributes


@recipe("MaxPool")
def max_pool(d):
    shape, attributes = pooled(d, d.version >= 10)
    if d.version >= 10:
        attributes |= d.some(ceil_mode=[0, 1])
    outputs = 2 if d.flag(0.4) else 1
    attributes |= d.some(storage_order=[0, 0, 1]) if outputs == 2 else {}
    return d.case([d.values(shape, d.type())], attributes, outputs)


@recipe("AveragePool")
def average_pool(d):
    shape, attributes = pooled(d, d.version >= 19)
    if d.version >= 10:
        attributes |= d.some(ceil_mode=[0, 1])
    return d.case([d.values(shape, d.type())], attributes | d.some(count_include_pad=[0, 1]))


@recipe("LpPool")
def lp_pool(d):
    shape, attributes = pooled(d, d.version >= 18)
    if d.version >= 18:
        attributes |= d.some(ceil_mode=[0, 1])
    return d.case([d.values(shape, d.type())], attributes | d.some(p=[1, 2, 3]))


@recipe("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def global_pool(d):
    return d.case([d.values(d.dims(d.integer(3, 5)), d.type())], d.some(p=[1, 2, 3]) if d.op == "GlobalLpPool" else {})
