"""Processes that a test starts, and all that they start: known by a word in their environment."""
import os
import subprocess
import sys
import time
import uuid
from typing import Any, Callable, Dict, List

_VARIABLE = "AMDAHL_TEST_FAMILY"


class Family:
    def __init__(self) -> None:
        self.word = uuid.uuid4().hex

    def python(self, text: str, *arguments: str, **changes: str) -> "subprocess.Popen[str]":
        """This interpreter, with `text` as its program."""
        environment: Dict[str, str] = {**os.environ, _VARIABLE: self.word, **changes}
        return subprocess.Popen([sys.executable, "-c", text, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def members(self) -> List[int]:
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and self._marked(name):
                found.append(int(name))
        return found

    def _marked(self, pid: str) -> bool:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return f"{_VARIABLE}={self.word}".encode() in file.read().split(b"\0")
        except OSError:  # it has ended
            return False

    def end(self) -> None:
        """After a test that failed: nothing of it stays."""
        for pid in self.members():
            try:
                os.kill(pid, 9)
            except OSError:
                pass


def comes_true(condition: Callable[[], Any], seconds: float) -> bool:
    """A limit, not a measurement: far above what it takes."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def exit_code_of_child(work: Callable[[], bool], seconds: float) -> int:
    """Forks; the child says whether `work` held. -9: it hung."""
    pid = os.fork()
    if pid == 0:
        good = False
        try:
            good = work()
        finally:
            os._exit(0 if good else 1)
    status: List[int] = []

    def ended() -> bool:
        done, code = os.waitpid(pid, os.WNOHANG)
        if done:
            status.append(code)
        return bool(done)

    if not comes_true(ended, seconds):
        os.kill(pid, 9)
        status.append(os.waitpid(pid, 0)[1])
    return os.WEXITSTATUS(status[0]) if os.WIFEXITED(status[0]) else -os.WTERMSIG(status[0])
