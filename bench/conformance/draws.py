"""What a recipe draws from: shapes, element types, values, attributes, all by one seeded generator."""
import numpy as np

from cases import Case, Fixed

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(int64)": np.int64,
         "tensor(int32)": np.int32, "tensor(int16)": np.int16, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8,
         "tensor(uint16)": np.uint16, "tensor(uint32)": np.uint32, "tensor(uint64)": np.uint64, "tensor(bool)": np.bool_}
LETTERS = {"f": "f", "i": "iu", "n": "fiu", "b": "b", "a": "fiub"}  # of the program's signatures, as NumPy's kinds
DIMENSIONS = [1, 1, 2, 2, 3, 3, 4, 5, 7]
ELEMENTS = 600  # at most, of one tensor

# Where functions have poles, ties, thresholds and limits.
LANDMARKS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 6.0, np.pi, -np.pi, np.pi / 2, 88.7, -88.7, 104.0, -104.0, 1e-3,
             -1e-3, 1e-8, 1e-38, -1e-38, 1e-40, -1e-45, 16777217.0, 1e9, -1e9, 3e9, 1e19, -1e19, 3e38, -3e38]
BEYOND = [np.inf, -np.inf, np.nan]


class Draw:
    def __init__(self, seed, operator, schema, opset):
        self.rng = np.random.default_rng(seed)
        self.operator, self.schema, self.opset = operator, schema, opset
        self.op, self.domain = operator["name"], operator["domain"]
        self.version = schema.since_version if schema else 1

    def case(self, inputs, attributes=None, outputs=1, captured=None):
        asked = outputs if isinstance(outputs, list) else [True] * outputs
        return Case(self.op, self.domain, self.opset, inputs, attributes or {}, asked, captured or {})

    def one(self, *options):
        return options[self.rng.integers(len(options))]

    def flag(self, chance=0.5):
        return bool(self.rng.random() < chance)

    def integer(self, low, high):
        """Both ends included."""
        return int(self.rng.integers(low, high + 1))

    def some(self, **options):
        """Attributes: each is absent, or one of its values."""
        return {name: self.one(*values) for name, values in options.items() if self.flag(0.65)}

    def dims(self, rank, empty=0.0):
        shape = [self.one(*DIMENSIONS) for _ in range(rank)]
        if rank and self.flag(0.06):  # longer than vectors of a kernel are
            shape[self.integer(0, rank - 1)] = self.integer(8, 70)
        while np.prod(shape) > ELEMENTS:
            longest = int(np.argmax(shape))
            shape[longest] = shape[longest] // 2
        if rank and self.flag(empty):
            shape[self.integer(0, rank - 1)] = 0
        return shape

    def shape(self, low=0, high=4, empty=0.03):
        return self.dims(self.integer(low, high), empty)

    def narrowed(self, shape):
        """A shape that broadcasts to `shape`."""
        cut = shape[self.integer(0, len(shape)):] if self.flag(0.4) else list(shape)
        return [1 if self.flag(0.25) else n for n in cut]

    def broadcast(self, count, low=0, high=4):
        """Shapes that broadcast with one another, in all directions."""
        whole = self.shape(low, high)
        shapes = [self.narrowed(whole) for _ in range(count)]
        if count and self.flag(0.5):
            shapes[self.integer(0, count - 1)] = whole
        return shapes

    def axis(self, rank, beyond=0):
        """Of a tensor; negative half of the time. `beyond`: how many axes more there may be."""
        a = self.integer(0, rank - 1 + beyond)
        return a - rank - beyond if self.flag(0.4) else a

    def axes(self, rank, least=0):
        chosen = self.rng.permutation(rank)[:self.integer(min(least, rank), rank)]
        return [int(a) - rank if self.flag(0.4) else int(a) for a in chosen]

    def types(self, i):
        """Element types of input i: what the operator's version and the program's signature both take."""
        letter = self.operator["inputs"].rstrip("+")[min(i, len(self.operator["inputs"].rstrip("+")) - 1)].lower()
        if not self.schema:
            return [np.float32]
        allowed = self.schema.inputs[min(i, len(self.schema.inputs) - 1)].types
        return [t for name, t in TYPES.items() if name in allowed and np.dtype(t).kind in LETTERS[letter]]

    def type(self, i=0):
        types = self.types(i)
        if np.float32 in types and self.flag(0.6):
            return np.float32
        return types[self.integer(0, len(types) - 1)]

    def values(self, shape, dtype=np.float32, special=0.0, low=-4, high=4):
        """Ordinary numbers (one draw in four whole ones, for ties); with `special` a chance that landmarks and NaN are among them."""
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return self.rng.random(shape) < 0.5
        if dtype.kind in "iu":
            return self.rng.integers(0 if dtype.kind == "u" else low, high + 3, shape).astype(dtype)
        if self.flag(0.25):
            return np.asarray(self.rng.integers(low, high + 1, shape)).astype(dtype)
        x = np.asarray(self.rng.normal(0, self.one(0.3, 1, 3), shape))
        if self.flag(special):
            marks = LANDMARKS + (BEYOND if self.flag(0.5) else [])
            x = np.where(self.rng.random(shape) < 0.5, self.rng.choice(marks, shape), x)
        with np.errstate(over="ignore"):
            return np.asarray(x).astype(dtype)

    def positive(self, shape, dtype=np.float32):
        return np.asarray(self.rng.uniform(0.2, 3, shape)).astype(dtype)

    def floats(self, shape, dtype=np.float32, special=0.0):
        return self.maybe_fixed(self.values(shape, dtype, special))

    def maybe_fixed(self, array, chance=0.2):
        """A weight: an initializer now and then."""
        return Fixed(array) if self.flag(chance) else array

    def known(self, values, dtype=np.int64):
        """A shape or axes: mostly an initializer, as a program that plans ahead needs it."""
        array = np.asarray(values, dtype=dtype)
        return Fixed(array) if self.flag(0.92) else array
