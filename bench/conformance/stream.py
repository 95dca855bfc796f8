"""Cases as amdahl-bench-conformance and tests/conformance read them: see stated_case.h."""
import gzip
import io

from google.protobuf.proto import serialize_length_prefixed
from onnx import GraphProto

from cases import tensor


def delimited(message):
    out = io.BytesIO()
    serialize_length_prefixed(message, out)
    return out.getvalue()


def packed(case, stated):
    data = GraphProto(name=case.name)
    data.initializer.extend(tensor(f"input/{name}", array) for name, array in case.fed().items())
    for reference, outputs in stated.items():
        data.initializer.extend(tensor(f"{reference}/{i}", array) for i, array in enumerate(outputs))
    return delimited(case.model()) + delimited(data)


def write(path, blobs):
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as out:
        for blob in blobs:
            out.write(blob)
