"""What most tests share: a small model, tuned once, and its plan. In a folder, and with a cache, of their own."""
import os
import shutil
import tempfile
from typing import List, Tuple

import amdahl
from small_model import SmallModel, WIDTH, WORDS, packed

MODEL = SmallModel()
IDS = [3, 0, 11, 7]
GAIN = [0.25 + 0.01 * i for i in range(WORDS * WIDTH)]

_folder = ""


def folder() -> str:
    return _folder


def path(name: str) -> str:
    return os.path.join(_folder, name)


def set_up() -> None:
    global _folder
    _folder = tempfile.mkdtemp(prefix="amdahl-python-tests-")
    os.environ.setdefault("AMDAHL_CACHE", path("cache"))
    with open(path("small.onnx"), "wb") as file:
        file.write(MODEL.file())


def tear_down() -> None:
    shutil.rmtree(_folder, ignore_errors=True)


def session() -> amdahl.Session:
    if not os.path.exists(path("small.amdahl")):
        amdahl.tune(path("small.onnx"), session=path("small.amdahl"), experiments=1, progress=False)
    return amdahl.Session(path("small.amdahl"))


def plan_folder() -> str:
    if not os.path.exists(path("small.plan")):
        session().export(path("small.plan"), "compiled")
    return path("small.plan")


def good_call() -> Tuple[bytes, bytes]:
    return packed(IDS, GAIN)


def answer() -> List[float]:
    return MODEL.answer(IDS, GAIN)
