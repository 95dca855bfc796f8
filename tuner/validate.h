#pragma once
// The five stages that a candidate passes before its speed means anything: smoke, shapes, numerics, determinism, conduct.
//
// A kernel is compiled for one shape, so "shapes" is about where its operands lie: flush against guard pages on either side
// and off every vector boundary. Families of inputs on which the starter kernels themselves leave the oracle's bounds
// prove nothing about this window and are left out; normal or uniform inputs must remain.

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "tuner/reference.h"
#include "tuner/worker_process.h"

namespace amdahl {

// What became of a candidate that did not pass.
struct Failure {
  Outcome outcome = Outcome::kWrong;
  std::string code;           // one word for what was found: "unwritten", "stale", "forbidden-call"; docs/trust.md lists them
  std::string stage, reason;
  uint64_t seed = 0;          // replays it
};
Failure failure_of(const Death& death, const std::string& stage, uint64_t seed);

// One draw that judges a window, with the starter's error on it.
struct Check {
  Draw draw;
  double starter_max_error = 0, starter_rms_error = 0;
};

// How candidates for one window are judged.
struct Judge {
  std::string signature;
  std::vector<InputRange> ranges;
  std::vector<Check> checks;         // the first is normal or uniform; exact probes last
  ProcessState honest;               // a worker's state after the starter's trials
  double call_seconds = 0;           // of the starter, first calls: sets deadlines
  std::string unusable;              // not empty: why nothing can be judged here
  double deadline() const;           // of one trial
};

// Expected outputs of a draw (cached by the caller).
using ExpectedOf = std::function<std::shared_ptr<const Expected>(const Draw&)>;

// Runs the starter in `worker`. Throws what WorkerProcess throws.
Judge make_judge(const std::string& signature, std::vector<InputRange> ranges, const Subject& starter, uint64_t seed,
                 WorkerProcess& worker, const ExpectedOf& expected);

// One candidate's way through the stages. Smoke comes apart from the rest, so that a clear loser can be dropped before the
// whole way is paid for. Each returns the first failure, and throws Stopped only.
class Validation {
 public:
  // `worker` must be fresh; all arguments must outlive this.
  Validation(const Subject& subject, const Judge& judge, int threads, WorkerProcess& worker, const ExpectedOf& expected)
      : subject_(subject), judge_(judge), threads_(threads), worker_(worker), expected_(expected) {}

  std::optional<Failure> smoke();
  // Shapes, numerics, determinism, conduct. After smoke(); loads the candidate anew.
  std::optional<Failure> rest();

 private:
  using Stage = std::optional<Failure> (Validation::*)();
  std::optional<Failure> guarded(std::initializer_list<Stage> stages);
  Failure failure(Outcome outcome, std::string code, std::string reason) const {
    return {outcome, std::move(code), stage_, std::move(reason), draw_.seed};
  }
  void load(Layout layout, const Draw& draw);
  std::optional<Failure> try_check(const Check& check, std::vector<std::byte>* outputs = nullptr);
  std::optional<Failure> first_trial();
  std::optional<Failure> numerics();
  std::optional<Failure> determinism();
  std::optional<Failure> conduct();
  std::optional<Failure> shapes();

  const Subject& subject_;
  const Judge& judge_;
  int threads_;
  WorkerProcess& worker_;
  const ExpectedOf& expected_;
  std::string stage_, first_hash_;
  Draw draw_;
  ProcessState first_state_;
  uint64_t trials_ = 0;
};

}  // namespace amdahl
