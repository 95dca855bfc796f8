"""Sums of products: MatMul, Gemm, Einsum, convolutions both ways."""
from recipes import recipe


@recipe("MatMul")
def matmul(d):
    m, k, n = (d.one(1, 2, 3, 5, 7, 16, 33) for _ in range(3))
    dtype = d.type()
    a, b = d.one(([m, k], [k, n]), ([k], [k, n]), ([m, k], [k]), ([k], [k]), (None, None))
    if a is None:
        outer = d.broadcast(2, 0, 2)
        a, b = outer[0] + [m, k], outer[1] + [k, n]
    return d.case([d.floats(a, dtype), d.floats(b, dtype)])


@recipe("Gemm")
def gemm(d):
    m, k, n = (d.one(1, 2, 3, 5, 7, 16, 33) for _ in range(3))
    attributes = d.some(alpha=[1.0, 0.0, 0.5, -2.0], beta=[1.0, 0.0, 0.25, -1.0], transA=[0, 1], transB=[0, 1])
    dtype = d.type()
    a = [k, m] if attributes.get("transA") else [m, k]
    b = [n, k] if attributes.get("transB") else [k, n]
    c = d.one([m, n], [n], [1, n], [m, 1], [1], [], [1, 1])
    absent = d.version >= 11 and d.flag(0.25)
    return d.case([d.floats(a, dtype), d.floats(b, dtype)] + ([] if absent else [d.floats(c, dtype)]), attributes)


EQUATIONS = ["ij,jk->ik", "ij,jk", "bij,bjk->bik", "bhid,bhjd->bhij", "i,i->", "i,j->ij", "ij,ij->ij", "ij,ij->", "ij,kj->ik", "ij->ji", "ij->i",
             "ij->", "ii->i", "ii", "bii->bi", "...ij,...jk->...ik", "...ij->...ji", "...i,...i->...", "bij,jk->bik", "ij,jk,kl->il", "i,ij,j->",
             "ij , jk -> ik", "ba,cb->ac", "aab,b->a", "...,i->...i", "i...,j...->ij...", "b...i,bj->b...ij", "ijk,ikl->ijl", "ij,j->ij", "k,ijk->ij"]


@recipe("Einsum")
def einsum(d):
    equation = d.one(*EQUATIONS)
    size = {letter: d.one(1, 2, 3, 4) for letter in "abcdhijkl"}
    dots = d.dims(d.integer(0, 2))
    dtype = d.type()
    arrays = []
    for term in equation.split("->")[0].replace(" ", "").split(","):
        before, ellipsis, after = term.partition("...")
        arrays.append(d.floats([size[c] for c in before] + (dots if ellipsis else []) + [size[c] for c in after], dtype))
    return d.case(arrays, {"equation": equation})


def window(d, spatial, kernel):
    """Strides, dilations and padding in every way of stating it; what is absent has its default."""
    attributes = d.some(strides=[[d.integer(1, 3) for _ in range(spatial)]], dilations=[[d.integer(1, 2) for _ in range(spatial)]])
    if d.flag(0.4):
        attributes["auto_pad"] = d.one("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
    if attributes.get("auto_pad", "NOTSET") == "NOTSET" and d.flag(0.7):
        attributes["pads"] = [d.integer(0, max(0, k - 1)) for k in kernel] + [d.integer(0, max(0, k - 1)) for k in kernel]
    return attributes


def channels(d):
    group = d.one(1, 1, 1, 2, 3)
    return group, group * d.integer(1, 3), group * d.integer(1, 3)


def convolved(d, attributes, group, kernel, image, weights, c_out):
    """What can be left out now and then: a group of 1, the kernel's shape, the bias."""
    if group > 1 or d.flag(0.3):
        attributes["group"] = group
    if d.flag():
        attributes["kernel_shape"] = kernel
    dtype = d.type()
    bias = [d.floats([c_out], dtype)] if d.flag() else []
    return d.case([d.values([d.integer(1, 2)] + image, dtype), d.floats(weights + kernel, dtype)] + bias, attributes)


@recipe("Conv")
def conv(d):
    spatial = d.one(1, 2, 2, 2, 3)
    group, c_in, c_out = channels(d)
    kernel = [d.integer(1, 3) for _ in range(spatial)]
    attributes = window(d, spatial, kernel)
    reach = [(k - 1) * r + 1 for k, r in zip(kernel, attributes.get("dilations", [1] * spatial))]
    image = [n + d.integer(0, 5 if spatial < 3 else 2) for n in reach]
    return convolved(d, attributes, group, kernel, [c_in] + image, [c_out, c_in // group], c_out)


@recipe("ConvTranspose")
def conv_transpose(d):
    spatial = d.one(1, 2, 2, 2, 3)
    group, c_in, c_out = channels(d)
    kernel = [d.integer(1, 3) for _ in range(spatial)]
    attributes = window(d, spatial, kernel)
    strides, dilations = attributes.get("strides", [1] * spatial), attributes.get("dilations", [1] * spatial)
    image = [d.integer(1, 4) for _ in range(spatial)]
    extra = [d.integer(0, max(s, r) - 1) for s, r in zip(strides, dilations)]
    if d.flag(0.4) and any(extra):
        attributes["output_padding"] = extra
    pads = attributes.get("pads", [0] * 2 * spatial)
    full = [s * (n - 1) + e + (k - 1) * r + 1
            for s, n, k, r, e in zip(strides, image, kernel, dilations, attributes.get("output_padding", [0] * spatial))]
    if any(n - pads[i] - pads[i + spatial] < 1 for i, n in enumerate(full)):
        attributes.pop("pads")
    if d.flag(0.3) and attributes.get("auto_pad") != "VALID":
        attributes.pop("pads", 0)
        attributes["output_shape"] = [max(1, n - d.integer(0, min(3, n - 1))) for n in full]
    return convolved(d, attributes, group, kernel, [c_in] + image, [c_in, c_out // group], c_out)


