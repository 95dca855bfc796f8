"""The package where there is no PyTorch: sessions, plans, errors, processes. See `run`. Nothing here depends on what a measurement said."""
import json
import multiprocessing
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import Any, List
from unittest import mock

import amdahl
import tuned
from amdahl import errors, program
from processes import Family, comes_true, exit_code_of_child
from small_model import ROWS, packed

EXIT_CODES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "exit-codes.md")

# Far above what anything here takes on a busy machine.
PATIENCE = 300.0

setUpModule, tearDownModule = tuned.set_up, tuned.tear_down


def environment(**changes: str) -> Any:
    """The environment with these changed, and without AMDAHL_PROGRAM where it is not among them."""
    kept = {name: value for name, value in os.environ.items() if name != "AMDAHL_PROGRAM"}
    return mock.patch.dict(os.environ, {**kept, **changes}, clear=True)


def write_program(path: str, text: str = "exit 0") -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)
    return path


class FindProgram(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(dir=tuned.folder())
        self.package = mock.patch.object(program, "__file__", os.path.join(self.folder, "package", "program.py"))
        self.package.start()
        self.addCleanup(self.package.stop)

    def test_in_the_order_that_it_says(self) -> None:
        on_path = write_program(os.path.join(self.folder, "path", "amdahl"))
        with environment(PATH=os.path.dirname(on_path)):
            self.assertEqual(program.find_program(), on_path)
            own = write_program(os.path.join(self.folder, "package", "_program", "bin", "amdahl"))
            self.assertEqual(program.find_program(), own)
            os.environ["AMDAHL_PROGRAM"] = "/somewhere/amdahl"
            self.assertEqual(program.find_program(), "/somewhere/amdahl")

    def test_says_how_to_get_one(self) -> None:
        with environment(PATH=self.folder), self.assertRaisesRegex(amdahl.MachineError, "pip install .*AMDAHL_PROGRAM"):
            program.find_program()

    def test_one_that_does_not_run(self) -> None:
        with environment(AMDAHL_PROGRAM=os.path.join(self.folder, "nothing")), self.assertRaisesRegex(amdahl.MachineError, "cannot start .*AMDAHL_PROGRAM"):
            amdahl.Session("x.amdahl").status()

    def test_the_command_does_not_start_itself(self) -> None:
        from amdahl import __main__
        script = write_program(os.path.join(self.folder, "bin", "amdahl"))
        with environment(PATH=os.path.dirname(script)), mock.patch.object(sys, "argv", [script]), mock.patch("sys.stderr") as said:
            with self.assertRaises(SystemExit) as end:
                __main__.main()
        self.assertEqual(end.exception.code, 11)
        self.assertIn("AMDAHL_PROGRAM", "".join(call.args[0] for call in said.write.call_args_list))

    def test_the_command_is_the_program(self) -> None:
        write_program(os.path.join(self.folder, "program"), "echo \"$0 $# $2\"; exit 9")
        done = subprocess.run([sys.executable, "-m", "amdahl", "status", "a b"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "AMDAHL_PROGRAM": os.path.join(self.folder, "program")})
        self.assertEqual((done.returncode, done.stdout.strip()), (9, f"{os.path.join(self.folder, 'program')} 2 a b"))


class Errors(unittest.TestCase):
    def test_every_exit_code_has_its_class(self) -> None:
        with open(EXIT_CODES, encoding="utf-8") as file:
            codes = {int(code) for code in re.findall(r"^\| (\d+) \|", file.read(), re.MULTILINE)} - {0}
        self.assertGreater(len(codes), 12)
        for code in codes - {1}:
            error = errors.error_of(code, "why")
            self.assertEqual(type(error).exit_code, code)
            self.assertIs(getattr(amdahl, type(error).__name__), type(error))
        self.assertIs(type(errors.error_of(1, "why")), amdahl.AmdahlError)
        self.assertEqual(errors.error_of(139, "died").exit_code, 139)

    def refused(self, kind: type, words: str, *arguments: str) -> None:
        with self.assertRaises(kind) as raised:
            program.run_json(*arguments)
        self.assertIs(type(raised.exception), kind)
        self.assertRegex(str(raised.exception), words)
        self.assertFalse(str(raised.exception).startswith("amdahl:"))

    def test_of_the_program(self) -> None:
        garbage = tuned.path("garbage.amdahl")
        with open(garbage, "w", encoding="utf-8") as file:
            file.write("no database")
        self.refused(amdahl.BadUsage, "unknown format", "export", tuned.session().path, "--format", "pencil", "-o", tuned.path("x"))
        self.refused(amdahl.BadModel, "nothing.onnx", "tune", tuned.path("nothing.onnx"), "--session", tuned.path("x.amdahl"))
        self.refused(amdahl.SessionMismatch, "another model", "tune", "builtin:gpt2-mini", "--session", tuned.session().path)
        self.refused(amdahl.SessionDamaged, "garbage.amdahl", "status", garbage)
        self.refused(amdahl.NoDevice, "cuda|driver|card", "tune", tuned.path("small.onnx"), "--session", tuned.path("x.amdahl"), "--device", "cuda:99")

    def test_without_a_compiler(self) -> None:
        with mock.patch.dict(os.environ, {"PATH": tuned.path("empty"), "AMDAHL_PROGRAM": program.find_program(), "AMDAHL_CACHE": tuned.path("cache2")}):
            with self.assertRaisesRegex(amdahl.NoCompiler, r"apt-get install g\+\+"):
                amdahl.tune(tuned.path("small.onnx"), session=tuned.path("x.amdahl"), progress=False)

    def test_functions_of_pytorch_say_what_is_missing(self) -> None:
        with mock.patch.dict(sys.modules, {"torch": None}), self.assertRaisesRegex(ImportError, "pip install torch"):
            amdahl.optimize
        with self.assertRaises(AttributeError):
            amdahl.no_such_name

    def test_an_old_pytorch_is_refused(self) -> None:
        with mock.patch.dict(sys.modules, {"torch": mock.Mock(__version__="2.4.1+cpu")}), self.assertRaisesRegex(ImportError, "2.5 or newer, this is 2.4.1"):
            amdahl.optimize


class Tune(unittest.TestCase):
    def test_tells_what_happens_and_leaves_a_session(self) -> None:
        events: List[Any] = []
        made = amdahl.tune(tuned.path("small.onnx"), session=tuned.path("told.amdahl"), minutes=0.01, progress=events.append)
        self.assertIn("phase", {event["event"] for event in events})
        self.assertEqual(made.path, tuned.path("told.amdahl"))
        self.assertEqual(made.status()["identity"]["model"], tuned.path("small.onnx"))
        self.assertIs(made.resume(minutes=0.01, progress=False), made)

    def test_an_exception_of_the_listener_ends_the_program(self) -> None:
        def told(event: Any) -> None:
            raise KeyError("ours")

        with self.assertRaises(KeyError):
            amdahl.tune(tuned.path("small.onnx"), session=tuned.path("broken_off.amdahl"), progress=told)
        amdahl.tune(tuned.path("small.onnx"), session=tuned.path("broken_off.amdahl"), minutes=0.01, progress=False)

    def test_tries_what_the_playbook_offers(self) -> None:
        status = tuned.session().status()
        self.assertEqual([experiment["id"] for experiment in status["experiments"]], [1])


class Session(unittest.TestCase):
    def test_report(self) -> None:
        report = tuned.session().report()
        self.assertEqual(len(report.data["experiments"]), 1)
        self.assertIn("small", str(report))
        self.assertIn("const vega", report.html())
        self.assertIn("<iframe", report._repr_html_())

    def test_exports_as_source(self) -> None:
        folder = tuned.session().export(tuned.path("source"))
        self.assertTrue(os.path.exists(os.path.join(folder, "CMakeLists.txt")))

    def test_loads_into_this_process(self) -> None:
        plan = tuned.session().load(tuned.path("loaded.plan"))
        self.assertEqual([spec.name for spec in plan.inputs + plan.outputs], ["ids", "gain", "y"])

    def test_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(amdahl.MachineError, "no session"):
            amdahl.Session(tuned.path("no.amdahl")).status()


class Plan(unittest.TestCase):
    def setUp(self) -> None:
        self.plan = amdahl.Plan(tuned.plan_folder())

    def assert_right(self, outputs: List[bytearray]) -> None:
        self.assertEqual(len(outputs), 1)
        for got, want in zip(struct.unpack(f"<{len(outputs[0]) // 4}f", outputs[0]), tuned.answer()):
            self.assertAlmostEqual(got, want, delta=1e-4 * max(1.0, abs(want)))

    def test_computes_what_the_model_says(self) -> None:
        self.assertGreater(max(tuned.answer()), 0.1)
        self.assert_right(self.plan.run(*tuned.good_call()))
        self.assert_right(self.plan.run(*map(bytearray, tuned.good_call())))

    def test_verifies_itself(self) -> None:
        self.assertLessEqual(self.plan.verify(), self.plan.facts["limit"])

    def test_refuses_wrong_inputs(self) -> None:
        ids, gain = tuned.good_call()
        for wrong in ((), (ids,), (ids, gain, gain), (gain, ids), (ids, gain[:-4]), (ids + ids, gain), (ids, memoryview(gain + gain)[::2])):
            with self.assertRaises(amdahl.BadInput):
                self.plan.run(*wrong)
        self.assert_right(self.plan.run(ids, gain))

    def test_computes_nothing_with_a_bad_index(self) -> None:
        for bad in (-1, ROWS, 2**62, -2**63):
            with self.assertRaisesRegex(amdahl.BadInput, "index"):
                self.plan.run(*packed([0, 1, bad, 2], tuned.GAIN))
        self.assert_right(self.plan.run(*tuned.good_call()))

    def test_is_called_by_many_threads(self) -> None:
        wrong: List[Any] = []

        def call(times: int) -> None:
            try:
                for _ in range(times):
                    self.assert_right(self.plan.run(*tuned.good_call()))
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=call, args=(20,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertFalse(any(thread.is_alive() for thread in threads))
        self.assertEqual(wrong, [])

    def child_is_right(self) -> bool:
        self.assert_right(self.plan.run(*tuned.good_call()))
        self.assert_right(amdahl.Plan(tuned.plan_folder()).run(*tuned.good_call()))
        return True

    def test_runs_in_a_child_and_in_its_parent(self) -> None:
        self.assert_right(self.plan.run(*tuned.good_call()))
        self.assertEqual(exit_code_of_child(self.child_is_right, PATIENCE), 0)
        self.assert_right(self.plan.run(*tuned.good_call()))

    def test_runs_in_a_child_that_came_in_the_midst_of_a_run(self) -> None:
        stop = threading.Event()

        def go_on() -> None:
            while not stop.is_set():
                self.plan.run(*tuned.good_call())

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            codes = [exit_code_of_child(self.child_is_right, PATIENCE) for _ in range(5)]
        finally:
            stop.set()
            thread.join()
        self.assertEqual(codes, [0] * 5)

    def test_runs_in_a_process_that_was_spawned(self) -> None:
        process = multiprocessing.get_context("spawn").Process(target=spawned, args=(tuned.plan_folder(),))
        process.start()
        process.join(PATIENCE)
        self.assertEqual(process.exitcode, 0)


def spawned(folder: str) -> None:
    plan = amdahl.Plan(folder)
    plan.verify()


class DamagedPlan(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = os.path.join(tempfile.mkdtemp(dir=tuned.folder()), "plan")
        shutil.copytree(tuned.plan_folder(), self.folder)

    def file(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def change_byte(self, name: str, at: int) -> None:
        with open(self.file(name), "r+b") as file:
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 255]))

    def change_facts(self, **facts: Any) -> None:
        with open(self.file("plan.json"), encoding="utf-8") as file:
            old = json.load(file)
        with open(self.file("plan.json"), "w", encoding="utf-8") as file:
            json.dump({**old, **facts}, file)

    def refused(self, words: str, kind: type = amdahl.MachineError) -> None:
        with self.assertRaisesRegex(kind, words):
            amdahl.Plan(self.folder)

    def test_without_one_of_its_files(self) -> None:
        names = ["plan.json", "weights.bin", "libamdahl-plan.so", os.path.join("kernels", sorted(os.listdir(self.file("kernels")))[0])]
        whole = self.folder
        for at, name in enumerate(names):
            with self.subTest(name):
                self.folder = f"{whole}{at}"  # a library that was loaded once is found again by its path
                shutil.copytree(whole, self.folder)
                os.remove(self.file(name))
                self.refused(re.escape(self.folder))
        amdahl.Plan(whole)

    def test_that_is_no_folder(self) -> None:
        self.folder = self.file("plan.json")
        self.refused("name a folder")

    def test_with_other_weights(self) -> None:
        self.change_byte("weights.bin", 100)
        self.refused("weights.bin has other bytes")

    def test_with_weights_cut_off(self) -> None:
        os.truncate(self.file("weights.bin"), 1000)
        self.refused("weights.bin is of another size")

    def test_with_a_description_that_is_none(self) -> None:
        for text in ("", "{", "{}", "[]", "null", "{\"format\": 1}"):
            with self.subTest(text):
                with open(self.file("plan.json"), "w", encoding="utf-8") as file:
                    file.write(text)
                self.refused("plan")

    def test_of_another_format(self) -> None:
        self.change_facts(format=99)
        self.refused("version 99")

    def test_for_another_processor(self) -> None:
        self.change_facts(features=["avx9000"])
        self.refused("avx9000", amdahl.Unsupported)

    def test_whose_outputs_are_not_those_recorded(self) -> None:
        plan = amdahl.Plan(self.folder)
        inputs = sum(spec.bytes for spec in plan.inputs)
        with open(self.file("selftest.bin"), "r+b") as file:
            file.seek(inputs)
            file.write(struct.pack("<f", 1e9))
        with self.assertRaisesRegex(amdahl.NotVerified, "output y"):
            plan.verify()


_TUNE = """
import sys, amdahl
def told(event):
    if event["event"] == "experiment":
        print("one is done", flush=True)
amdahl.tune("builtin:gpt2-mini", session=sys.argv[1], progress=told)
"""


class Signals(unittest.TestCase):
    """A Python that tunes, sent a signal when its first experiment is done."""

    def setUp(self) -> None:
        self.family = Family()
        self.addCleanup(self.family.end)
        self.session = tuned.path(f"{self.id()}.amdahl")
        self.process = self.family.python(_TUNE, self.session)
        self.addCleanup(self.close)
        assert self.process.stdout is not None
        self.assertEqual(self.process.stdout.readline().strip(), "one is done")

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def assert_nothing_is_left(self, seconds: float) -> None:
        self.assertTrue(comes_true(lambda: not self.family.members(), seconds), "processes are left behind")

    def test_a_session_that_is_tuned_is_busy(self) -> None:
        with self.assertRaises(amdahl.SessionBusy):
            amdahl.tune("builtin:gpt2-mini", session=self.session, progress=False)

    def test_ctrl_c_keeps_what_is_finished(self) -> None:
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=PATIENCE)
        self.assertIn("KeyboardInterrupt", said)
        self.assert_nothing_is_left(10)
        self.assertGreaterEqual(len(amdahl.Session(self.session).status()["experiments"]), 1)

    def test_kill_leaves_no_tuner_behind(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)
        self.assert_nothing_is_left(60)
        self.assertGreaterEqual(len(amdahl.Session(self.session).status()["experiments"]), 1)


if __name__ == "__main__":
    unittest.main()
