"""The command `amdahl` and `python -m amdahl`: the program, in this process's place."""
import os
import sys

from .errors import MachineError
from .program import find_program


def main() -> None:
    try:
        program = find_program()
        # A package that lacks its program finds this very script on the path.
        if os.path.exists(program) and os.path.exists(sys.argv[0]) and os.path.samefile(program, sys.argv[0]):
            raise MachineError(f"{program} starts the program of its package, which is not there: install the package again with `pip install .` from its "
                               "sources, or set AMDAHL_PROGRAM to the program itself")
        try:
            os.execv(program, ["amdahl", *sys.argv[1:]])
        except OSError as error:
            raise MachineError(f"cannot start {program}: {error.strerror}; set AMDAHL_PROGRAM to a program that runs") from error
    except MachineError as error:
        print(f"amdahl: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
