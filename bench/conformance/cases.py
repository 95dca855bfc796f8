"""A generated case: one node, its inputs, and the ONNX model that holds them."""
import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPE_ATTRIBUTES = {"to", "dtype", "output_dtype"}  # numbers of element types
FLOATS = (np.float16, np.float32)


class Fixed:
    """An input that is an initializer: a shape, axes, what a program must know to know its output's shape."""

    def __init__(self, array):
        self.array = np.asarray(array)


@dataclasses.dataclass
class Case:
    op: str
    domain: str
    opset: int
    inputs: list  # arrays, Fixed, or None where an optional one is absent
    attributes: dict
    outputs: list  # whether output i is asked for
    captured: dict = dataclasses.field(default_factory=dict)  # by name, what subgraphs in attributes read
    number: int = 0

    @property
    def name(self):
        return f"{self.number} {self.domain + '.' if self.domain else ''}{self.op} {self.opset}"

    def array(self, i):
        return getattr(self.inputs[i], "array", self.inputs[i])

    def named(self):
        return {f"x{i}": x for i, x in enumerate(self.inputs) if x is not None} | self.captured

    def arrays(self):
        """By name, all of them."""
        return {name: getattr(x, "array", x) for name, x in self.named().items()}

    def fed(self):
        """By name, those that a run is given."""
        return {name: x for name, x in self.named().items() if not isinstance(x, Fixed)}

    def output_names(self):
        return [f"y{i}" for i, wanted in enumerate(self.outputs) if wanted]

    def model(self):
        names = [f"x{i}" if x is not None else "" for i, x in enumerate(self.inputs)]
        while names and not names[-1]:
            names.pop()
        outputs = [f"y{i}" if wanted else "" for i, wanted in enumerate(self.outputs)]
        node = helper.make_node(self.op, names, outputs, domain=self.domain, **self.attributes)
        fed = self.fed()
        graph = helper.make_graph(
            [node], "case",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in fed.items()],
            [onnx.ValueInfoProto(name=n) for n in self.output_names()],
            [numpy_helper.from_array(a, n) for n, a in self.arrays().items() if n not in fed])
        imports = [helper.make_opsetid("", self.opset)] + ([helper.make_opsetid(self.domain, 1)] if self.domain else [])
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    def in_float64(self):
        """The same case with float64 in the place of every narrower float, or None where the operator is about element types."""
        if self.domain or self.captured or TYPE_ATTRIBUTES & set(self.attributes) or self.op == "CastLike" or not any(a.dtype in FLOATS for a in self.arrays().values()):
            return None

        def widened(x):
            if x is None:
                return None
            array = getattr(x, "array", x)
            if array.dtype in FLOATS:
                array = array.astype(np.float64)
            return Fixed(array) if isinstance(x, Fixed) else array
        attributes = {k: v for k, v in self.attributes.items() if k != "softmax_precision"}
        return dataclasses.replace(self, inputs=[widened(x) for x in self.inputs], attributes=attributes)


def tensor(name, array):
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(np.shape(array)), name)


def element_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def constant_tensor(array):
    """For an attribute."""
    return numpy_helper.from_array(np.asarray(array), "value")


__all__ = ["Case", "Fixed", "TensorProto", "constant_tensor", "element_type", "tensor"]
