"""What goes wrong, as exceptions: the program's one line, and its exit code (docs/exit-codes.md)."""


class AmdahlError(RuntimeError):
    """The message says what is wrong and what to do; `exit_code` is the program's."""

    exit_code = 1


class BadUsage(AmdahlError):
    exit_code = 2


class BadModel(AmdahlError):
    exit_code = 3


class Unsupported(AmdahlError):
    """The model cannot run: what it needs and nothing here computes, or what this processor lacks."""

    exit_code = 4


class ExportFailed(Unsupported):
    """PyTorch could not write the module as ONNX; the message has the reason of each exporter."""


class BadInput(AmdahlError):
    exit_code = 5


class UnsetDimension(AmdahlError):
    exit_code = 6


class SessionMismatch(AmdahlError):
    exit_code = 7


class SessionBusy(AmdahlError):
    exit_code = 8


class SessionDamaged(AmdahlError):
    exit_code = 9


class NoCompiler(AmdahlError):
    exit_code = 10


class MachineError(AmdahlError):
    """Something cannot be read, written or created; a disk is full; the program itself is missing."""

    exit_code = 11


class NotVerified(AmdahlError):
    exit_code = 12


class NoDevice(AmdahlError):
    exit_code = 13


class Interrupted(AmdahlError):
    """The program was told to end; what it had finished is kept, and the same call goes on."""

    exit_code = 130


_OF_CODE = {c.exit_code: c for c in (BadUsage, BadModel, Unsupported, BadInput, UnsetDimension, SessionMismatch, SessionBusy, SessionDamaged, NoCompiler,
                                     MachineError, NotVerified, NoDevice, Interrupted)}


def error_of(exit_code: int, message: str) -> AmdahlError:
    error = _OF_CODE.get(exit_code, AmdahlError)(message)
    error.exit_code = exit_code
    return error
