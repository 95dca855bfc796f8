#pragma once
// What is wrong with the user's input or the machine. Thrown anywhere, caught once in cli/, printed as one line that
// says what to do next. What happens to a *candidate* kernel is never an exception: it is an Outcome in the session.

#include <stdexcept>
#include <string>

namespace amdahl {

// Process exit codes. Frozen: scripts depend on them (docs/exit-codes.md lists them).
enum class ExitCode : int {
  kOk = 0,
  kInternal = 1,         // a bug of ours
  kUsage = 2,            // bad command line
  kBadModel = 3,         // missing, truncated, not ONNX, external data missing or short
  kUnsupported = 4,      // operators or features that cannot run; message lists all of them
  kBadInput = 5,         // wrong tensor file, shape or dtype given to `run`
  kUnsetDimension = 6,   // a symbolic dimension needs --shape
  kSessionMismatch = 7,  // session of another model, machine or schema version
  kSessionBusy = 8,      // another process writes this session
  kSessionDamaged = 9,   // database damaged
  kNoCompiler = 10,      // no usable C++ compiler
  kIo = 11,              // cannot read/write/create, disk full
  kNotVerified = 12,     // `verify` or an export self-test did not hold
  kNoDevice = 13,        // no device of the kind that was asked for, or no driver
  kInterrupted = 130,    // Ctrl-C; everything is kept
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace amdahl
