"""A compiled plan (`amdahl export --format compiled`), run in this process by the library that lies in its folder."""
import ctypes
import json
import math
import os
import struct
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from .errors import BadInput, MachineError, NotVerified, error_of

_SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "bool": 1}
# Of the module struct; bf16 is the upper half of a float.
_LETTERS = {"f32": "f", "f64": "d", "f16": "e", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "bool": "?"}

COMPUTED, BAD_INDEX, CHANGED = 0, 1, 2


class TensorSpec(NamedTuple):
    name: str
    dtype: str  # "f32", "i64", …
    shape: Tuple[int, ...]

    @property
    def bytes(self) -> int:
        return _SIZES[self.dtype] * math.prod(self.shape)


def files_of(folder: str) -> Dict[str, int]:
    """Bytes of each file, by its path inside."""
    return {os.path.relpath(os.path.join(place, name), folder): os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names}


def require_files(folder: str, files: Dict[str, int]) -> None:
    """A library that is cut off is no error to load but a signal that ends the process: asked first. Raises MachineError."""
    there = files_of(folder)
    for name, size in files.items():
        if there.get(name) != size:
            raise MachineError(f"{folder} is damaged: {name} " + (f"has {there[name]} bytes instead of {size}" if name in there else "is not there")
                               + "; save or export it again")


def _require_whole(library: str) -> None:
    """An ELF file ends with the table of its sections."""
    with open(library, "rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:4] != b"\x7fELF":
            raise ValueError(f"{os.path.basename(library)} is no library")
        at, (size, count) = struct.unpack_from("<Q", head, 40)[0], struct.unpack_from("<HH", head, 58)
        if os.path.getsize(library) < at + size * count:
            raise ValueError(f"{os.path.basename(library)} is cut off")


def _specs(rows: Sequence[Any]) -> List[TensorSpec]:
    return [TensorSpec(row["name"], row["dtype"], tuple(row["shape"])) for row in rows]


class Plan:
    """`run` takes and gives bytes; `run_at` computes on memory of the caller's. Any thread may call. Raises MachineError or Unsupported when a folder is
    damaged, or was made for another processor."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(folder)
        path = os.path.join(self.folder, "libamdahl-plan.so")
        try:
            with open(os.path.join(self.folder, "plan.json"), encoding="utf-8") as file:
                self.facts = json.load(file)
            self.inputs, self.outputs = _specs(self.facts["inputs"]), _specs(self.facts["outputs"])
            self.threads: int = self.facts["threads"]
            for kernel in sorted(os.listdir(os.path.join(self.folder, "kernels"))):
                _require_whole(os.path.join(self.folder, "kernels", kernel))
            _require_whole(path)
            library = ctypes.CDLL(path)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise MachineError(f"{self.folder} is no compiled plan: {error}; name a folder that `amdahl export --format compiled` or amdahl.save() wrote") from error
        self._library = library
        library.amdahl_plan_load.restype = ctypes.c_void_p
        library.amdahl_plan_load.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int), ctypes.c_char_p, ctypes.c_size_t]
        library.amdahl_plan_free.argtypes = [ctypes.c_void_p]
        run = library.amdahl_plan_run
        run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        library.amdahl_plan_watch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        library.amdahl_plan_watch.restype = None
        self._watched: List[Tuple[Any, int]] = []
        said, code = ctypes.create_string_buffer(2048), ctypes.c_int()
        self.handle = library.amdahl_plan_load(os.fsencode(self.folder), ctypes.byref(code), said, len(said))
        if not self.handle:
            raise error_of(code.value, said.value.decode("utf-8", "replace"))
        self.run_at = run  # (handle, array of input pointers, array of output pointers) -> COMPUTED or BAD_INDEX
        self.input_pointers, self.output_pointers = ctypes.c_void_p * len(self.inputs), ctypes.c_void_p * len(self.outputs)

    def __del__(self) -> None:
        handle = getattr(self, "handle", None)
        if handle:
            self._library.amdahl_plan_free(handle)
            self.handle = None

    def watch(self, words: Sequence[int]) -> None:
        """Addresses of words of 4 bytes, which every run looks at first: CHANGED where one holds something else than now. They must stay readable."""
        self._watched = [(word, word.value) for word in map(ctypes.c_uint32.from_address, words)]
        self._library.amdahl_plan_watch(self.handle, (ctypes.c_void_p * len(words))(*words), len(words))

    def unchanged(self) -> bool:
        """Whether all words that are watched hold what they held."""
        return all(word.value == value for word, value in self._watched)

    def run(self, *inputs: Any) -> List[bytearray]:
        """The outputs' bytes. Inputs: anything with the buffer protocol (arrays of NumPy, bytes), row-major, as many bytes as `self.inputs` say."""
        if len(inputs) != len(self.inputs):
            raise BadInput(f"{len(inputs)} inputs given, the plan has {len(self.inputs)}: {', '.join(spec.name for spec in self.inputs)}")
        kept = []
        for spec, given in zip(self.inputs, inputs):
            view = memoryview(given)
            if view.nbytes != spec.bytes or not view.c_contiguous:
                raise BadInput(f"{spec.name} must be {spec.bytes} bytes of {spec.dtype} {list(spec.shape)}, row-major; given are {view.nbytes} bytes")
            kept.append(bytearray(view) if view.readonly else view)
        out = [bytearray(spec.bytes) for spec in self.outputs]
        code = self.run_at(self.handle, self.input_pointers(*map(_address, kept)), self.output_pointers(*map(_address, out)))
        if code == BAD_INDEX:
            raise BadInput("an input holds an index below 0, or beyond the table that it chooses from: nothing was computed")
        if code == CHANGED:
            raise BadInput("what the plan watches has changed since it was loaded: nothing was computed")
        return out

    def verify(self) -> float:
        """Runs the recorded inputs and compares with the recorded outputs (float64, rounded). The largest relative norm; NotVerified where one is beyond the
        limit that was set when the plan was exported."""
        with open(os.path.join(self.folder, "selftest.bin"), "rb") as file:
            inputs = [bytearray(file.read(spec.bytes)) for spec in self.inputs]
            wanted = [file.read(spec.bytes) for spec in self.outputs]
        largest = 0.0
        for spec, got, want in zip(self.outputs, self.run(*inputs), wanted):
            norm = _relative_norm(_numbers(spec.dtype, got), _numbers(spec.dtype, want))
            if not norm <= self.facts["limit"]:
                raise NotVerified(f"output {spec.name} is {norm:.2e} from what was recorded (limit {self.facts['limit']:.2e}): tune again on this machine")
            largest = max(largest, norm)
        return largest


def _address(buffer: Any) -> int:
    length = memoryview(buffer).nbytes
    return ctypes.addressof((ctypes.c_char * length).from_buffer(buffer)) if length else 0


def _numbers(dtype: str, data: Any) -> Sequence[float]:
    if dtype == "bf16":
        halves = struct.unpack(f"<{len(data) // 2}H", data)
        return struct.unpack(f"<{len(halves)}f", struct.pack(f"<{len(halves)}I", *(h << 16 for h in halves)))
    return struct.unpack(f"<{len(data) // _SIZES[dtype]}{_LETTERS[dtype]}", data)


def _relative_norm(got: Sequence[float], want: Sequence[float]) -> float:
    difference = size = 0.0
    for g, w in zip(got, want):
        if g != w and not (g != g and w != w):  # an infinity equals itself, and so does what is no number
            difference += float(g - w) ** 2
        if math.isfinite(w):
            size += float(w) ** 2
    return math.sqrt(difference / size) if size > 0 else math.sqrt(difference)
