"""An ONNX file of a few hundred numbers, written byte by byte: the tests need no package of ONNX's. And what it computes, in plain Python."""
import random
import struct
from typing import List, Sequence, Tuple

ROWS, WIDTH, WORDS = 12, 16, 4  # of the table; of a row; how many rows a call takes
FLOAT, INT64 = 1, 7             # of onnx.TensorProto.DataType


def _varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def _number(field: int, n: int) -> bytes:
    return _varint(field << 3) + _varint(n)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _node(kind: str, inputs: Sequence[str], output: str) -> bytes:
    return _bytes(1, b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(3, output) + _text(4, kind))


def _weights(name: str, shape: Sequence[int], values: Sequence[float]) -> bytes:
    return _bytes(5, b"".join(_number(1, n) for n in shape) + _number(2, FLOAT) + _text(8, name) + _bytes(9, struct.pack(f"<{len(values)}f", *values)))


def _tensor(field: int, name: str, kind: int, shape: Sequence[int]) -> bytes:
    dimensions = b"".join(_bytes(1, _number(1, n)) for n in shape)
    return _bytes(field, _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dimensions))))


class SmallModel:
    """Looks rows up by index, scales them by `gain`, multiplies them twice by a matrix, each time followed by Relu: `ids` (int64), `gain` (f32) -> `y`."""

    def __init__(self, seed: int = 1) -> None:
        draw = random.Random(seed)

        def some(count: int) -> List[float]:
            return list(struct.unpack(f"<{count}f", struct.pack(f"<{count}f", *(draw.uniform(-1, 1) for _ in range(count)))))

        self.table, self.matrices = some(ROWS * WIDTH), [some(WIDTH * WIDTH), some(WIDTH * WIDTH)]

    def file(self) -> bytes:
        nodes = (_node("Gather", ["table", "ids"], "rows") + _node("Mul", ["rows", "gain"], "scaled") + _node("MatMul", ["scaled", "m0"], "p0") +
                 _node("Relu", ["p0"], "r0") + _node("MatMul", ["r0", "m1"], "p1") + _node("Relu", ["p1"], "y"))
        graph = (nodes + _text(2, "small") + _weights("table", [ROWS, WIDTH], self.table) + _weights("m0", [WIDTH, WIDTH], self.matrices[0]) +
                 _weights("m1", [WIDTH, WIDTH], self.matrices[1]) + _tensor(11, "ids", INT64, [WORDS]) + _tensor(11, "gain", FLOAT, [WORDS, WIDTH]) +
                 _tensor(12, "y", FLOAT, [WORDS, WIDTH]))
        return _number(1, 8) + _text(2, "tests") + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 17))

    def answer(self, ids: Sequence[int], gain: Sequence[float]) -> List[float]:
        out: List[float] = []
        for word, row in enumerate(ids):
            x = [self.table[row * WIDTH + i] * gain[word * WIDTH + i] for i in range(WIDTH)]
            for matrix in self.matrices:
                x = [max(0.0, sum(x[k] * matrix[k * WIDTH + i] for k in range(WIDTH))) for i in range(WIDTH)]
            out += x
        return out


def packed(ids: Sequence[int], gain: Sequence[float]) -> Tuple[bytes, bytes]:
    return struct.pack(f"<{len(ids)}q", *ids), struct.pack(f"<{len(gain)}f", *gain)
