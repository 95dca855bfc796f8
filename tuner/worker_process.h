#pragma once
// The supervisor's side of a worker: starts it, talks to it under a deadline, kills its whole process group when it does
// not answer, and says how it died. The clock of every measurement is here.

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.h"
#include "plan/program.h"
#include "tuner/guarded_memory.h"
#include "tuner/inputs.h"
#include "tuner/protocol.h"

namespace amdahl {

struct Death {
  enum class Kind { kSignal, kOutOfBounds, kReadOnly, kForbidden, kMemory, kTimeout, kExit, kGarbage };
  Kind kind = Kind::kExit;
  std::string reason;  // "SIGSEGV: write, 0 bytes past the end of 'gelu_out'"
};

// The worker died, or answered with an error: data about a candidate, thrown because every exchange can end so. Caught in
// one place (experiment_runner.cc), where it becomes an Outcome. Not an amdahl::Error: the machine and the user are fine.
struct WorkerDied : std::runtime_error {
  explicit WorkerDied(Death d) : std::runtime_error(d.reason), death(std::move(d)) {}
  Death death;
};
// The candidate's library could not be loaded or set up (the worker lives).
struct WorkerRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The user pressed Ctrl-C: unwinds to the loop.
struct Stopped {};

struct WorkerOptions {
  int threads = 1;
  int64_t memory_bytes = int64_t{3} << 30;  // address space
  std::vector<std::string> launcher;        // e.g. {"ssh", "node7"}: put in front of the worker's path
  int blob_fd = -1;                         // inherited as descriptor 3; not with a launcher
  uint64_t layout_seed = 0;                 // size of the environment: moves the stack, as any other start would
  const std::atomic<bool>* stop = nullptr;
};

struct LoadRequest {
  const Program* program = nullptr;
  const Blob* blob = nullptr;       // sent along; nullptr with use_blob_fd or when the program has no blob
  bool use_blob_fd = false;
  Layout layout = Layout::kModel;
  int instances = 1;
  uint64_t weights_seed = 0;
  bool ternary = false;
};

// What a trial brought back.
struct TrialReply {
  std::vector<std::byte> outputs;
  std::string damaged;              // "" or what was written beside the buffers
  bool float_control_changed = false;
};

// What the operating system says of a worker: not the worker's word.
struct ProcessState {
  int threads = 0, descriptors = 0;
  uint64_t caught_signals = 0;      // mask of handlers; bit n-1 is signal n
  int64_t involuntary_switches = 0;
  int64_t peak_bytes = 0;
};

class WorkerProcess {
 public:
  // Throws Error(kIo) when no process can be started or the worker program is not found.
  explicit WorkerProcess(const WorkerOptions& options);
  ~WorkerProcess();  // kills
  WorkerProcess(const WorkerProcess&) = delete;

  // All throw WorkerDied, WorkerRefused (load) or Stopped. Deadlines in seconds.
  void load(const LoadRequest& request, double seconds);
  void inputs(Family family, uint64_t seed, const std::vector<InputRange>& ranges, double seconds);
  TrialReply trial(int instance, uint64_t poison, size_t output_bytes, double seconds);
  double run(int calls, double seconds);  // wall-clock seconds from request to reply
  std::vector<double> steps(int runs, double seconds);
  ProcessState state() const;

 private:
  Frame call(Json request, std::span<const std::byte> payload, size_t max_reply, double seconds);
  [[noreturn]] void die(IoStatus status, double seconds);
  std::string last_words() const;
  void kill_group();

  WorkerOptions options_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1, stderr_ = -1;
  Random nonces_;
};

// $AMDAHL_WORKER, else amdahl-worker beside this program, or one folder up. Throws Error(kIo).
std::string worker_program();

}  // namespace amdahl
