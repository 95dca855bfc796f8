"""Where the programs of bench/cuda lie: flat in a folder, or as a build has them."""
import os
import sys


def find_program(folder, name):
    for place in ("", "tests", "bench"):
        path = os.path.join(folder, place, name)
        if os.access(path, os.X_OK):
            return path
    sys.exit(f"{name} is neither in {folder} nor in its tests/ or bench/: build it (cmake -DAMDAHL_TESTS=ON -DAMDAHL_BENCH=ON), or name a folder with --programs")
