"""A live line of what the tuner does: in a terminal, in a notebook, or now and then in a log."""
import html
import sys
import time
from typing import Any, Callable, Dict, Optional, Union

Shown = Union[bool, Callable[[Dict[str, Any]], None]]

_WIDTH = 20
_SECONDS_BETWEEN_LINES = 30.0


def time_text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def clock_text(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """`show(event)` for every event of the program; `end(text)` leaves a last line. `shown` False: silent; a function: it gets the events instead."""

    def __init__(self, name: str, shown: Shown = True) -> None:
        self.asked = shown
        self._told = shown if callable(shown) else None
        shown = shown is True
        self.name, self.shown = name, shown
        self.status: Dict[str, Any] = {}
        self._note = ""
        self._last = 0.0
        self._drawn = 0
        self._handle: Any = None
        self._notebook = shown and _in_notebook()
        self._terminal = shown and not self._notebook and sys.stderr is not None and sys.stderr.isatty()

    def show(self, event: Dict[str, Any]) -> None:
        if self._told:
            self._told(event)
        if event["event"] == "status":
            self.status = event
        elif event["event"] == "phase":
            self.status = {**self.status, "phase": event["phase"]}
        elif event["event"] == "note":
            self._note = event["text"]
            self._once(event["text"])
        elif event["event"] == "gate" and event["kept"]:
            self._last = 0.0
        self._draw()

    def phase(self, text: str) -> None:
        self.show({"event": "phase", "phase": text})

    def text(self) -> str:
        s = self.status
        parts = [f"amdahl {self.name}"]
        spent, left = s.get("spent"), s.get("left")
        if spent is not None and left is not None:
            done = min(_WIDTH, int(_WIDTH * spent / max(spent + left, 1e-9)))
            parts.append("━" * done + "╌" * (_WIDTH - done) + f" {clock_text(spent)} of {clock_text(spent + left)}")
        elif spent is not None:
            parts.append(clock_text(spent))
        if s.get("starter_seconds") and s.get("seconds"):
            parts.append(f"{time_text(s['starter_seconds'])} -> {time_text(s['seconds'])} ({s['starter_seconds'] / s['seconds']:.2f}x)")
        if s.get("experiments"):
            parts.append(f"{s['experiments']} tried, {s['kept']} kept")
        if s.get("phase"):
            parts.append(s["phase"])
        return "  ".join(parts)

    def end(self, text: str) -> None:
        self._erase()
        if self._notebook:
            self._display(html.escape(f"amdahl {self.name}: {text}"))
        elif self.shown:
            print(f"amdahl {self.name}: {text}", file=sys.stderr, flush=True)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """An exception is a last line itself; an interrupted user is told what became of his work."""
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.end("interrupted; what was finished is kept, and the same call goes on")
        elif kind is not None:
            self._erase()

    def _once(self, note: str) -> None:
        if self.shown and not self._notebook:
            self._erase()
            print(f"amdahl {self.name}: {note}", file=sys.stderr, flush=True)

    def _draw(self) -> None:
        now = time.monotonic()
        if not self.shown or now - self._last < (0.5 if self._terminal or self._notebook else _SECONDS_BETWEEN_LINES):
            return
        self._last = now
        if self._notebook:
            self._display(f"<pre style='margin:0'>{html.escape(self.text())}</pre>" + (f"<small>{html.escape(self._note)}</small>" if self._note else ""))
        elif self._terminal:
            self._erase()
            line = self.text()[:_columns() - 1]
            self._drawn = len(line)
            print("\r" + line, end="", file=sys.stderr, flush=True)
        else:
            print(self.text(), file=sys.stderr, flush=True)

    def _erase(self) -> None:
        if self._drawn:
            print("\r" + " " * self._drawn + "\r", end="", file=sys.stderr, flush=True)
            self._drawn = 0

    def _display(self, text: str) -> None:
        from IPython.display import HTML, display  # there, or _in_notebook() had said no
        if self._handle is None:
            self._handle = display(HTML(text), display_id=True)
        else:
            self._handle.update(HTML(text))


def _columns() -> int:
    import shutil
    return max(20, shutil.get_terminal_size().columns)


def _in_notebook() -> bool:
    shell: Optional[Any] = None
    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")
