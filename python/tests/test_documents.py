"""The examples of docs/pytorch.md, in order, in one process."""
import contextlib
import io
import os
import re
import tempfile
import unittest
import warnings

try:
    import torch  # noqa: F401
except ImportError as error:
    raise unittest.SkipTest("this Python has no torch") from error

HERE = os.path.dirname(os.path.abspath(__file__))


class Documents(unittest.TestCase):
    def test_the_examples_run(self):
        with open(os.path.join(HERE, os.pardir, os.pardir, "docs", "pytorch.md"), encoding="utf-8") as file:
            examples = re.findall(r"<!-- runs in [^>]*-->\n```python\n(.*?)```", file.read(), re.S)
        self.assertGreaterEqual(len(examples), 4)
        names, before, said = {}, os.getcwd(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.chdir(folder)
            try:
                for number, example in enumerate(examples):
                    exec(compile(example, f"example {number + 1} of docs/pytorch.md", "exec"), names)
            finally:
                os.chdir(before)
        self.assertIn("True", said.getvalue(), "the saved module computes the same")
        self.assertIn("BadUsage 2 the module is in training mode", said.getvalue())
        self.assertEqual(sum(names["fast"].calls.values()), 1, "the one with other weights")


if __name__ == "__main__":
    unittest.main()
