"""How the program is listened to, with one that says what a test wants it to."""
import os
import stat
import sys
import tempfile
import unittest
from unittest import mock

from amdahl import errors, program

TALKER = """#!{python}
import sys, time
{body}
"""


class Talkers(unittest.TestCase):
    def program(self, body):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "amdahl")
        with open(path, "w") as file:
            file.write(TALKER.format(python=sys.executable, body=body))
        os.chmod(path, stat.S_IRWXU)
        return mock.patch.dict(os.environ, {"AMDAHL_PROGRAM": path})

    def test_a_report_that_is_longer_than_a_pipe(self):
        events = []
        with self.program("print('[' + ', '.join(['1'] * 300000) + ']', flush=True)\nprint('{\"event\": \"note\"}', file=sys.stderr)"):
            self.assertEqual(len(program.run_with_events(["tune"], events.append)), 300000)
            self.assertEqual(events, [{"event": "note"}])
            self.assertEqual(len(program.run_json("report")), 300000)

    def test_many_events(self):
        events = []
        with self.program("for i in range(20000): print('{\"event\": \"note\", \"text\": \"words\"}', file=sys.stderr)\nprint('{}')"):
            self.assertEqual(program.run_with_events(["tune"], events.append), {})
        self.assertEqual(len(events), 20000)

    def test_a_failure_has_the_program_s_line_and_code(self):
        with self.program("print('{ no event', file=sys.stderr)\nprint('amdahl: no compiler: install one', file=sys.stderr)\nsys.exit(10)"):
            for call in (lambda: program.run_json("tune"), lambda: program.run_with_events(["tune"], print)):
                with self.assertRaises(errors.NoCompiler) as raised:
                    call()
                self.assertIn("no compiler: install one", str(raised.exception))
                self.assertEqual(raised.exception.exit_code, 10)

    def test_an_exception_of_the_listener_ends_the_program(self):
        def listener(event):
            raise KeyboardInterrupt
        with tempfile.TemporaryDirectory() as folder:
            ended = os.path.join(folder, "ended")
            body = ("import signal\nsignal.signal(signal.SIGINT, lambda *_: (open(%r, 'w').close(), sys.exit(130)))\n"
                    "print('{\"event\": \"note\"}', file=sys.stderr, flush=True)\ntime.sleep(60)" % ended)
            with self.program(body), self.assertRaises(KeyboardInterrupt):
                program.run_with_events(["tune"], listener)
            self.assertTrue(os.path.exists(ended), "it was told by SIGINT, and waited for")


if __name__ == "__main__":
    unittest.main()
