"""The program: found, started, listened to, ended."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
from typing import Any, Callable, Dict, List

from .errors import AmdahlError, MachineError, NoCompiler, error_of

Event = Dict[str, Any]

# A tuner that is told to end finishes what it is measuring; proofs of a large model take some seconds.
_SECONDS_TO_END = 60


def find_program() -> str:
    """`AMDAHL_PROGRAM`, the one that came with this package, or the first `amdahl` on the path."""
    given = os.environ.get("AMDAHL_PROGRAM")
    if given:
        return given
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "bin", "amdahl")
    found = own if os.path.exists(own) else shutil.which("amdahl")
    if found:
        return found
    raise MachineError("the program amdahl is neither in this package nor on the path: install the package with `pip install .` from its sources, or set "
                       "AMDAHL_PROGRAM to it")


def _start(arguments: List[str], **pipes: Any) -> "subprocess.Popen[str]":
    command = [find_program(), *arguments]
    try:
        # In a session of its own: a Ctrl-C that the terminal sends to all is passed on by us, once.
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, encoding="utf-8", errors="replace", start_new_session=True, **pipes)
    except OSError as error:
        raise MachineError(f"cannot start {command[0]}: {error.strerror}; set AMDAHL_PROGRAM to a program that runs") from error


def _end(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=_SECONDS_TO_END)  # it may have something to say yet, and waits until somebody listens
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _error(code: int, said: str, command: str) -> AmdahlError:
    if "libgomp.so.1" in said and "shared libraries" in said:  # the loader's word: it did not even begin
        return NoCompiler("OpenMP's library is missing, which comes with the C++ compiler that tuning needs: apt-get install g++")
    return error_of(code, (said[len("amdahl: "):] if said.startswith("amdahl: ") else said) or f"amdahl {command} ended with {code}")


def run_json(*arguments: str) -> Any:
    """What a command prints with --json. Raises an AmdahlError with its line where it fails."""
    out = run_text(*arguments, "--json")
    return json.loads(out) if out.strip() else None


def run_text(*arguments: str) -> str:
    """What a command prints. Raises an AmdahlError with its line where it fails."""
    process = _start([*arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, said = process.communicate()
    except BaseException:
        _end(process)
        raise
    if process.returncode != 0:
        raise _error(process.returncode, said.strip(), arguments[0])
    return out


def _listen(process: "subprocess.Popen[str]", on_event: Callable[[Event], None]) -> List[str]:
    """Until the program has ended; the lines that are no events."""
    assert process.stderr is not None
    other: List[str] = []
    try:
        for line in process.stderr:
            try:
                event = json.loads(line) if line.startswith("{") else None
            except ValueError:
                event = None
            if event is None:
                other.append(line.strip())
            else:
                on_event(event)
        process.wait()
    except BaseException:
        _end(process)
        raise
    finally:
        process.stderr.close()
    return other


def run_with_events(arguments: List[str], on_event: Callable[[Event], None]) -> Any:
    """As run_json() of `tune` and `resume`, with what happens on the way (docs/json.md). An exception of `on_event`, KeyboardInterrupt among them, ends the
    program first: what it has finished is kept."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as report:  # not a pipe: it is longer than one holds, and events are read first
        process = _start([*arguments, "--json", "--events"], stdout=report, stderr=subprocess.PIPE)
        other = _listen(process, on_event)
        report.seek(0)
        out = report.read()
    if process.returncode != 0:
        raise _error(process.returncode, "\n".join(other), arguments[0])
    return json.loads(out)
