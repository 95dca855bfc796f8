#pragma once
// The supervisor's side of a worker: starts it, talks to it under a deadline, stops it before anything of it is looked at,
// kills its whole process group when it does not answer, and says how it died. The clock of every measurement is here.
//
// A worker is stopped (SIGSTOP) whenever it is not asked to do something: it cannot finish work after it has answered, nor
// disturb the other arm while that is timed. What a timed call reads is written while the worker stands still, between wake(), whose
// threads are found awake later on, and run(), which is on the clock from the first instruction that the worker executes: nothing can be worked
// ahead.

#include <sched.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.h"
#include "plan/program.h"
#include "tuner/worker/arena.h"
#include "tuner/worker/protocol.h"
#include "tuner/worker/worker_backends.h"

namespace amdahl {

struct WorkerExit {
  enum class Kind { kSignal, kOutOfBounds, kReadOnly, kForbidden, kMemory, kTimeout, kExit, kGarbage, kKilled, kStillWorking };
  Kind kind = Kind::kExit;
  std::string reason;  // "SIGSEGV: write, 0 bytes past the end of 'gelu_out'"
};

// The worker died, or answered with an error: data about a candidate, thrown because every exchange can end so. Caught in
// one place a stage, where it becomes an Outcome. Not an amdahl::Error: the machine and the user are fine.
struct WorkerDied : std::runtime_error {
  explicit WorkerDied(WorkerExit d) : std::runtime_error(d.reason), death(std::move(d)) {}
  WorkerExit death;
};
// The candidate's library could not be loaded or set up (the worker lives).
struct WorkerRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The user pressed Ctrl-C: unwinds to the loop.
struct Stopped {};

struct WorkerOptions {
  const WorkerBackend* backend = &cpu_worker_backend();
  int threads = 1;
  int64_t memory_bytes = int64_t{3} << 30;  // address space
  uint64_t layout_seed = 0;                 // size of the environment: moves the stack, as any other start would
  bool clock = false;                       // for steps(), which times single steps inside; no candidate on trial has one
  const std::atomic<bool>* stop = nullptr;
};

// A run of calls, by the supervisor's clocks.
struct RunTime {
  double seconds = 0;         // from the request to the answer
  double beside_seconds = 0;  // before and after that: the worker's threads could run and were counted, until all of them were stopped
  double cpu_seconds = 0;     // of all the worker's threads, in both
};

// What the worker says of itself. A kernel could make it lie; an honest mistake shows.
struct Report {
  bool damaged_temporaries = false;
  bool float_control_changed = false;  // rounding, flush-to-zero, denormals-are-zero, x87 precision; on any thread
  bool handlers_changed = false;
};

// One call that is looked at, not timed.
struct Trial {
  int slot = 0;
  uint64_t seed = 0;    // of what workspace and temporaries hold before the call, and of where its outputs are looked at when it returns
  int team = 0;         // size of OpenMP's teams; 0: as in all timed calls
  bool nested = false;  // from inside a parallel region, where teams have one thread
};

// What the operating system says of a worker: not the worker's word.
struct ProcessState {
  int threads = 0, descriptors = 0;
  uint64_t caught_signals = 0, ignored_signals = 0, blocked_signals = 0;  // masks; bit n-1 is signal n
  std::set<std::string> affinities;                                       // the different lists of allowed CPUs that its threads have
  int64_t resident_bytes = 0;                                             // private, not the mappings that we share
};

// Beside an output's bytes, in its own pages.
constexpr std::byte kOutputSlack{0xA5};

class WorkerProcess {
 public:
  // `constants` and `inputs`, of the same backend, are read by the worker as long as it lives. Throws Error(kIo) when no process can be started or
  // the worker program is not found.
  WorkerProcess(const WorkerOptions& options, const Arena& inputs, int constants_fd);
  ~WorkerProcess();  // kills
  WorkerProcess(const WorkerProcess&) = delete;

  // All throw WorkerDied, WorkerRefused (load, bind) or Stopped. Deadlines in seconds. load() throws Error(kIo) when the machine lets no worker come so
  // far that a candidate's code would run.
  void load(const std::vector<std::string>& libraries, double seconds);  // once
  // `inputs` and `weights` as in Places (tuner/worker/bound_program.h). Makes the outputs of every slot; what was bound before is gone.
  void bind(const Program& program, Layout layout, const std::vector<std::vector<Region>>& inputs, const std::vector<std::vector<Region>>& weights,
            double seconds, bool twin = false);
  void repack(double seconds);
  // Wakes its threads and stops it while they wait for work: as a model's next step finds them. `scribble`: over some lines of the workspace.
  void wake(uint64_t scribble, double seconds);
  // `count` slots from `first` on, the whole row `times` times.
  RunTime run(int first, int count, int times, double seconds);
  // Both, where nothing need be hidden.
  RunTime run_awake(int first, int count, int times, double seconds) {
    wake(0, seconds);
    return run(first, count, times, seconds);
  }
  // One call. Then its threads get time to come to rest, and whatever it left at work to go on. By Program::outputs, early_digest() of outputs at
  // the moment of the return (0: no memory of its own). Throws WorkerDied(kStillWorking) when processor time is used without end.
  std::vector<uint64_t> trial(const Trial& trial, double seconds);
  // Two instances of the program at once, of which one has the even slots and the other the odd ones; each slot `times` times: whether its outputs were the
  // same every time. After bind(…, twin).
  bool run_both(int times, double seconds);
  // What run() measures after wake() when nothing runs, the least of five: it is taken off what is timed, and what a disturbed moment adds to it made calls of
  // microseconds look as if they took no time at all (an honest gemv kernel was mistrusted for one of 0.3 ps).
  double handover(double seconds);
  Report report(double seconds);
  std::vector<double> steps(int runs, double seconds);
  ProcessState state();
  pid_t pid() const { return pid_; }
  // Lets it have one CPU only, or again those it was born with: threads then meet in other orders.
  void pin_to_one_cpu(bool pinned);

  // Outputs of a slot as the worker has left them, by Program::outputs; region.at is -1 for a constant or an output that was named before. They are
  // fetched when the worker has been awake since they were last: to look twice costs nothing.
  const std::vector<Region>& outputs(size_t slot);
  // What was written to them since is what the worker finds there.
  void publish_outputs(size_t slot);

 private:
  void enter(const std::vector<std::string>& libraries, double seconds);
  void make_outputs(const Program& program, Layout layout, size_t slots);
  Json call(Json request, double seconds, RunTime* time = nullptr, bool settle = false);
  void come_to_rest();
  void resume();
  void stop();
  ProcessState state_now(bool* restless) const;
  double cpu_seconds() const;
  [[noreturn]] void die(IoStatus status, double seconds, std::optional<WorkerExit> known = std::nullopt);
  std::string last_words() const;
  std::string memory_limit_reached() const;
  void kill_group();

  WorkerOptions options_;
  std::unique_ptr<Arena> output_arena_;
  struct Outputs {
    std::vector<Region> regions;  // by Program::outputs
    uint64_t as_of = 0;           // awakenings_ when they were fetched
  };
  std::vector<Outputs> outputs_;  // by slot
  uint64_t awakenings_ = 0;
  pid_t pid_ = -1;
  bool stopped_ = false;
  std::optional<int> exit_status_;  // when it was found dead
  int to_ = -1, from_ = -1, stderr_ = -1;
  std::map<pid_t, cpu_set_t> born_with_;  // by thread, while pinned
  Random nonces_;
};

}  // namespace amdahl
