"""A session of the program, and `tune()`, which makes one of an ONNX file. Needs neither PyTorch nor NumPy."""
import os
import tempfile
from typing import Any, Dict, List, Optional, Union

from . import program
from .plan import Plan
from .progress import Progress, Shown, time_text


class Report:
    """What a session has done: text in a terminal, a page in a notebook."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.data: Dict[str, Any] = program.run_json("report", session.path)

    def html(self) -> str:
        """The page, with its plots. It is one file that opens from the disk."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            program.run_json("report", self._session.path, "--html", path)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def _repr_html_(self) -> str:
        import html
        return f"<iframe srcdoc=\"{html.escape(self.html(), quote=True)}\" style='width:100%;height:700px;border:0'></iframe>"

    def __str__(self) -> str:
        return program.run_text("report", self._session.path)

    __repr__ = __str__


class Session:
    """A file that `amdahl tune` has made. Every method asks the program, and raises an AmdahlError with its line where that fails."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)

    def status(self) -> Dict[str, Any]:
        return program.run_json("status", self.path)

    def report(self) -> Report:
        return Report(self)

    def verify(self) -> Dict[str, Any]:
        """Proves the session's headline again, here. Raises NotVerified where it does not hold."""
        return program.run_json("verify", self.path)

    def resume(self, minutes: Optional[float] = None, progress: Shown = True) -> "Session":
        """Goes on until `minutes`, those of earlier runs counted, or until nothing is left that is worth it."""
        _tune(["resume", self.path, *_minutes(minutes)], os.path.basename(self.path), progress)
        return self

    def export(self, folder: str, format: str = "cxx", only_shape: Optional[str] = None) -> str:
        words = ["export", self.path, "--format", format, "-o", folder]
        program.run_json(*words, *(["--only-shape", only_shape] if only_shape else []))
        return folder

    def load(self, folder: str) -> Plan:
        """The winners, exported to `folder` as they were compiled, and loaded into this process."""
        return Plan(self.export(folder, "compiled"))

    def __repr__(self) -> str:
        return f"amdahl.Session({self.path!r})"


def _minutes(minutes: Optional[float]) -> List[str]:
    return ["--minutes", f"{minutes:g}"] if minutes is not None else []


def last_words(report: Dict[str, Any]) -> str:
    """Of a session: what was won, in a line."""
    head = report.get("headline")
    kept = report.get("outcomes", {}).get("kept", 0)
    tried = len(report.get("experiments", []))
    if not head or not head["gain"]["pairs"]:
        seconds = report.get("baseline_seconds")
        return f"{tried} tried, {kept} kept; " + (f"the starter plan takes {time_text(seconds)} a run" if seconds else "nothing was measured yet")
    return f"{time_text(head['starter_seconds'])} -> {time_text(head['kept_seconds'])} a run; {tried} tried, {kept} kept"


def _tune(arguments: List[str], name: str, progress: Shown) -> Dict[str, Any]:
    with Progress(name, progress) as bar:
        report = program.run_with_events(arguments, bar.show)
    bar.end(last_words(report))
    return report


def tune(model: "Union[str, os.PathLike[str]]", session: Optional[str] = None, minutes: Optional[float] = None, experiments: Optional[int] = None, allow: Optional[str] = None, max_error: Optional[float] = None,
         threads: Optional[int] = None, device: Optional[str] = None, shapes: Optional[Dict[str, str]] = None, values: Optional[Dict[str, float]] = None,
         progress: Shown = True) -> Session:
    """Tunes an ONNX file, or `builtin:NAME`, as `amdahl tune` does; the same call goes on where an earlier one stopped.

    `session`: where everything is kept (default: NAME.amdahl, here). `shapes`: of inputs with open dimensions, as in {"x": "1,128"}. `values`: inputs that hold one number at every call, as in {"sr": 16000}.
    """
    model = os.fspath(model)
    if model.startswith("-"):
        model = os.path.join(".", model)
    stem = model[len("builtin:"):] if model.startswith("builtin:") else os.path.splitext(os.path.basename(model))[0]
    path = os.fspath(session) if session else stem + ".amdahl"
    words = ["tune", model, "--session", path, *_minutes(minutes)]
    words += ["--experiments", str(experiments)] if experiments is not None else []
    words += ["--allow", allow] if allow else []
    words += ["--max-error", f"{max_error:g}"] if max_error is not None else []
    words += ["--threads", str(threads)] if threads else []
    words += ["--device", device] if device else []
    for name, sizes in (shapes or {}).items():
        words += ["--shape", f"{name}={sizes}"]
    for name, number in (values or {}).items():
        words += ["--value", f"{name}={number}"]
    _tune(words, stem, progress)
    return Session(path)
