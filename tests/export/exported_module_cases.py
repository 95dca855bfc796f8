"""exported_module_cases.py PACKAGES PACKAGE SELFTEST_BIN NAMESPACE: what must hold of an exported module (cuda_python_test.cc), with the stand-in for PyTorch on
the fake driver. The model hands its inputs on, so that no kernel is needed for right outputs."""
import importlib
import sys
import unittest

import torch

PACKAGES, PACKAGE, SELFTEST, NAMESPACE = sys.argv[1:5]
sys.path.insert(0, PACKAGES)
exported = importlib.import_module(PACKAGE)


def tensors(shape_rows, content):
    """Of INPUTS or OUTPUTS, with their bytes one after the other; what is left of them, too."""
    made = []
    for _, dtype, shape in shape_rows:
        kind = {"f32": torch.float32, "f16": torch.float16, "i64": torch.int64}[dtype]
        empty = torch.Tensor(shape, kind, torch.device("meta"), None)
        made.append((content[:empty.nbytes], shape, kind))
        content = content[empty.nbytes:]
    return made, content


with open(SELFTEST, "rb") as file:
    INPUTS, rest = tensors(exported.INPUTS, file.read())
    OUTPUTS, rest = tensors(exported.OUTPUTS, rest)
    assert not rest
WANTED = [content for content, _, _ in OUTPUTS]


def inputs(**how):
    return [torch.on_card(*row, **how) for row in INPUTS]


def read(outputs):
    return [t.read() for t in outputs]


class Model(unittest.TestCase):
    def test_0_is_not_brought_onto_the_card_while_a_graph_is_captured(self):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            with self.assertRaisesRegex(RuntimeError, "is not on cuda:0 yet.*call load"):
                exported.model(*inputs())

    def test_computes_the_recorded_case(self):
        self.assertEqual(read(exported.model(*inputs())), WANTED)
        self.assertEqual(read(torch.ops.__getattr__(NAMESPACE).run(inputs())), WANTED)
        self.assertEqual(exported.build(), "tuned")
        self.assertEqual(exported.steps(), [])

    def test_outputs_are_new_ones(self):
        given = inputs()
        first, second = exported.model(*given), exported.model(*given)
        self.assertEqual(len({t.data_ptr() for t in [*given, *first, *second]}), len(given) + 2 * len(first))

    def test_views_that_kernels_do_not_read_are_copied(self):
        self.assertEqual(read(exported.model(*inputs(shifted_by=8))), WANTED)
        self.assertEqual(read(exported.model(*inputs(is_strided=True))), WANTED)

    def test_a_capture_only_records(self):
        exported.load()
        given, graph = inputs(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = exported.model(*given)
        for t in outputs:
            t.write(b"\xff" * t.nbytes)
        graph.replay()
        self.assertEqual(read(outputs), WANTED)
        for t in given:
            t.write(b"\x11" * t.nbytes)
        graph.replay()
        self.assertEqual(outputs[0].read(), b"\x11" * outputs[0].nbytes, "inputs are read where they are")

    def test_a_run_waits_for_the_one_before_on_another_stream(self):
        given, main, side = inputs(), torch.cuda.current_stream(), torch.cuda.Stream()
        exported.model(*given)
        main.waited_for.clear()
        with torch.cuda.stream(side):
            exported.model(*given)
            exported.model(*given)
        self.assertEqual(side.waited_for, [main])
        exported.model(*given)
        self.assertEqual(main.waited_for, [side])
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            exported.model(*given)
            self.assertEqual(torch.cuda.current_stream().waited_for, [], "a capture cannot wait for what is outside it")
        exported.model(*given)
        self.assertEqual(main.waited_for, [side], "nothing has run since")

    def test_has_shapes_without_memory(self):
        given = [torch.Tensor(shape, kind, torch.device("meta"), None) for _, shape, kind in INPUTS]
        self.assertEqual([(list(t.shape), t.dtype) for t in exported.model(*given)], [(shape, kind) for _, shape, kind in OUTPUTS])
        with self.assertRaisesRegex(ValueError, "inputs given"):
            exported.model(*given[1:])

    def test_other_inputs_are_refused_by_name(self):
        first, *more = inputs()
        name = exported.INPUTS[0][0]
        with self.assertRaisesRegex(ValueError, f"{name} was tuned for"):
            exported.model(torch.Tensor((1, *first.shape), first.dtype, first.device, first.data_ptr()), *more)
        with self.assertRaisesRegex(TypeError, f"{name} is torch.*, not torch.uint8"):
            exported.model(torch.Tensor(first.shape, torch.uint8, first.device, first.data_ptr()), *more)
        with self.assertRaisesRegex(ValueError, "is on cuda:0, and .* on cuda:1: move them to one card"):
            exported.model(torch.Tensor(first.shape, first.dtype, torch.device("cuda:1"), first.data_ptr()), *more)

    def test_what_the_library_says_is_raised(self):
        library = importlib.import_module(NAMESPACE + "._library")
        with self.assertRaisesRegex(RuntimeError, "says of cuDeviceGet.*nvidia-smi -L"):
            library.Model(7)
        given, outputs = inputs(), exported.model(*inputs())
        with self.assertRaisesRegex(RuntimeError, "must begin at a multiple of 64 bytes of the card's memory"):
            library.Model(0).launch([t.data_ptr() + 8 for t in given], [t.data_ptr() for t in outputs], 0)

    def test_registers_one_operator_of_its_own_name(self):
        self.assertEqual(torch.names_of_operators(), [NAMESPACE + "::run"])


unittest.main(argv=sys.argv[:1], verbosity=2)
