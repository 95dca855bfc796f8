"""Steps of a problem in processes of their own, which end with all that they started when their time is over."""
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback


class Late(Exception):
    """No end within the limit."""


class Failed(Exception):
    """What the step said last; `code` is its exit status."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


def dies_with_its_parent():
    """In a child that is just made: where this process is killed, its work must not go on beside that of the next."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG; `amdahl` sees to it that nothing outlives it


def end(process):
    """The whole group: politely first, so that `amdahl` ends its own children."""
    for how, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, how)
            process.wait(patience)
        except (ProcessLookupError, ChildProcessError):  # it has ended, or all of its group have
            pass
        except subprocess.TimeoutExpired:
            pass


def ended(process, seconds):
    """The exit status. Raises Late."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        end(process)
        raise Late(f"no end after {seconds:.0f} s") from None
    except BaseException:
        end(process)
        raise


def program(*words, seconds):
    """What the program prints as JSON."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(list(map(str, words)), stdout=out, stderr=said, start_new_session=True, preexec_fn=dies_with_its_parent)
        code = ended(process, seconds)
        out.seek(0), said.seek(0)
        if code:
            raise Failed(said.read().strip() or f"exit code {code}", code)
        return json.load(out)


class Forked:
    """A child as subprocess.Popen has it, as far as `ended` asks."""

    def __init__(self, pid):
        self.pid = pid

    def wait(self, seconds):
        for _ in range(int(1e9) if seconds is None else max(1, int(seconds * 50))):
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        raise subprocess.TimeoutExpired("a step", seconds)


def forked(function, *arguments, seconds, log):
    """What a function of this process's modules gives, computed in a child: PyTorch takes seconds to import, and is imported once. The log gets what it prints."""
    with tempfile.TemporaryFile("w+") as out:
        sys.stdout.flush(), sys.stderr.flush()
        if (pid := os.fork()) == 0:
            code = 1
            try:
                os.setsid()
                dies_with_its_parent()
                written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                os.dup2(written, 1), os.dup2(written, 2)
                json.dump({"result": function(*arguments)}, out)
                code = 0
            except BaseException as error:  # noqa: BLE001: the parent tells it
                traceback.print_exc()
                out.seek(0), out.truncate()
                json.dump({"failed": f"{type(error).__name__}: {error}"[:600]}, out)
                code = 0
            finally:
                out.flush()
                os._exit(code)
        code = ended(Forked(pid), seconds)
        out.seek(0)
        text = out.read()
    said = json.loads(text) if code == 0 and text else {"failed": f"ended with {code}"}
    if "failed" in said:
        raise Failed(said["failed"])
    return said["result"]
