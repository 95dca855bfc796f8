"""traced_module_cases.py PACKAGE NAMESPACE: what must hold of an exported module inside PyTorch where there is no card (cuda_python_test.cc)."""
import importlib
import sys
import unittest

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

PACKAGE, NAMESPACE = sys.argv[1:3]
exported = importlib.import_module(PACKAGE)
TYPES = {"f32": torch.float32, "f16": torch.float16, "i64": torch.int64}


def tensors(device):
    return [torch.empty(shape, dtype=TYPES[dtype], device=device) for _, dtype, shape in exported.INPUTS]


class Operator(unittest.TestCase):
    def check(self, outputs, device):
        self.assertEqual([(list(t.shape), t.dtype, t.device.type) for t in outputs], [(shape, TYPES[dtype], device) for _, dtype, shape in exported.OUTPUTS])

    def test_has_shapes_on_meta_and_fake_tensors(self):
        self.check(exported.model(*tensors("meta")), "meta")
        with FakeTensorMode():
            self.check(exported.model(*tensors("cuda")), "cuda")
        with self.assertRaisesRegex(ValueError, "was tuned for"):
            exported.model(*[t[:1] for t in tensors("meta")])

    def test_is_one_node_of_a_graph(self):
        graphs = []

        def backend(graph, _):
            graphs.append(graph)
            return graph.forward

        self.check(torch.compile(exported.model, backend=backend, fullgraph=True)(*tensors("meta")), "meta")
        self.assertEqual(len(graphs), 1)
        calls = [n.target for n in graphs[0].graph.nodes if n.op == "call_function" and "getitem" not in str(n.target)]
        self.assertEqual([str(c) for c in calls], [f"{NAMESPACE}.run"])

    def test_has_no_kernel_for_the_processor(self):
        with self.assertRaisesRegex(NotImplementedError, "CPU"):
            exported.model(*tensors("cpu"))


unittest.main(argv=sys.argv[:1], verbosity=2)
