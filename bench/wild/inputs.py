"""What a file is given: sizes that it leaves open, and numbers as its use has them.

sizes.json has, for parts of file names, the sizes of an open dimension by the name of the input (or "*"). Where it says nothing the program is asked: its refusal of an
open size suggests one."""
import json
import os
import re

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
         "tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(bool)": np.bool_}


def known(path):
    with open(os.path.join(HERE, "sizes.json")) as rows:
        for part, sizes in json.load(rows).items():
            if part in path:
                return sizes
    return {}


def shapes_suggested(message):
    """--shape NAME=1,3 … of the program's own message."""
    return {name: [int(d) for d in dims.split(",")] if dims else [] for name, dims in re.findall(r"--shape (\S+?)=([\d,]*)(?: |$)", message)}


def draw(name, kind, shape, rows, seed, below):
    """Integers stay below `below`, so that they are in range of whatever table they index; `rows` of sizes.json may say "values" of inputs, and "fixed" ones, which are constants here (--value)."""
    random = np.random.default_rng(seed)
    dtype = TYPES[kind]
    values = {**rows.get("values", {}), **rows.get("fixed", {})}
    if name in values:
        return np.full(shape, values[name], dtype)
    if np.issubdtype(dtype, np.floating):
        scale = rows.get("scale", 0.5)
        return np.asarray(random.standard_normal(shape) * scale, dtype)
    if dtype == np.bool_:
        return np.asarray(random.integers(0, 2, shape), dtype)
    return np.asarray(random.integers(0, below, shape), dtype)
