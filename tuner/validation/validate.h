#pragma once
// The five stages that a candidate passes before its speed means anything: smoke, shapes, numerics, determinism, conduct.
//
// A kernel is compiled for one shape, so "shapes" is about where its operands lie: flush against guard pages on either side
// and off every vector boundary. Draws of which the oracle bounds under half of the outputs prove little about this window and are left out; those on which
// the starter itself leaves the bounds are too, and then one of the two is to be mended (ValidationSpec::left_out; tests/tuner/coverage_test.cc). Normal or uniform
// inputs must remain.

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "experiments/experiment.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "tuner/validation/conduct.h"
#include "tuner/validation/declared.h"
#include "tuner/validation/reference.h"
#include "tuner/validation/remote_program.h"

namespace amdahl {

// What became of a candidate that did not pass.
struct Failure {
  Outcome outcome = Outcome::kWrong;
  std::string code;  // one word for what was found: "unwritten", "stale", "forbidden-call"; docs/trust.md lists them
  std::string stage, reason;
  uint64_t seed = 0;  // replays it
};
Failure failure_of(const WorkerExit& death, const std::string& stage, uint64_t seed);

// With which a program ends when a plan that has passed before fails: kIo where the machine may have done that (it was killed, or memory ran out).
ExitCode exit_code(const Failure& of_judged_plan, ExitCode otherwise);

// One draw that judges a window, with the starter's error on it.
struct Check {
  Draw draw;
  double starter_max_error = 0, starter_rms_error = 0;
};

struct LeftOut {
  Draw draw;
  bool starter_is_wrong = false;
  std::string reason;
};

// Numbers that a pair is timed on.
struct TimedNumbers {
  Distribution distribution;
  double tolerance = 0;   // between two honest programs
  double share_open = 0;  // of outputs that no bound holds, where they may differ by more: in half precision two large scores that tie, and their softmax
};

// How candidates for one window are judged.
struct ValidationSpec {
  std::string signature;
  std::vector<InputRange> ranges;
  std::vector<Check> checks;  // the first is normal or uniform; those with weights of their own last
  // Drawn as the first check: itself, the same but for one element of each input, and others. Their outputs are judged, so
  // that they can be recognised among timed calls.
  std::vector<Check> canaries;
  std::vector<LeftOut> left_out;  // draws that judge nothing here
  // What pairs take in turns, as the headline does: numbers drawn as in the first check, then others as models have them (of pixels and what comes out of a
  // Sigmoid, all positive; mostly zero, as behind a ReLU). A kernel that is fast on some of them alone loses the pairs of the others.
  std::vector<TimedNumbers> timed;
  bool homogeneous = false;              // the starter's outputs scale with its inputs, bit by bit
  ProcessState honest;                   // a worker's state after the starter's trials
  double call_seconds = 0;               // of the starter, first calls: sets deadlines
  bool too_large_for_two = false;        // two instances of it would take more memory than trials should
  bool dear = false;                     // an oracle of many operations: a candidate is asked one set of numbers of its own, not several
  int endurance_calls = 8;               // in a row at the same addresses: from the window's work, so that no clock decides what is found
  std::string unusable;                  // not empty: why nothing can be judged here
  double deadline(int calls = 1) const;  // of a run of so many
};

// Expected outputs of a draw (cached by the caller).
using ExpectedOf = std::function<std::shared_ptr<const Expected>(const Draw&)>;

// Tries the starter in `starter`, a fresh remote program; `work`: of one call. Throws what WorkerProcess throws.
ValidationSpec make_validation_spec(const std::string& signature, std::vector<InputRange> ranges, const Work& work, RemoteProgram& starter, uint64_t seed,
                                    const ExpectedOf& expected);

// How candidates are bound for timing: fixed by the incumbent, whatever the candidate's speed.
struct TimedBinding {
  int slots = 3, copies = 1;
};

// One candidate's way through the stages. Smoke comes apart from the rest, so that a clear loser can be dropped before the
// whole way is paid for. Each returns the first failure, and throws Stopped only.
class Validation {
 public:
  // `remote` must be fresh; all arguments must outlive this.
  // `declared`: of the candidate's steps; `expected` is widened by it. Where products may round their operands, integers are
  // of 8 bits, and still exact.
  // `secret`: from the operating system, for this candidate alone; numbers that decide are drawn from it.
  Validation(RemoteProgram& remote, const ValidationSpec& spec, const TimedBinding& timed, const ExpectedOf& expected, const ErrorConstant& declared,
             uint64_t secret)
      : remote_(remote), spec_(spec), timed_(timed), expected_(expected), declared_(declared), secret_(secret) {}

  std::optional<Failure> smoke();
  // Shapes, numerics, determinism, conduct. After smoke(). Leaves the remote program bound for timing.
  std::optional<Failure> rest();
  // Hashes of the outputs of ValidationSpec::canaries, as bound for timing. After rest().
  const std::vector<std::string>& canary_hashes() const { return canary_hashes_; }

 private:
  using Stage = std::optional<Failure> (Validation::*)();
  std::optional<Failure> guarded(std::initializer_list<Stage> stages);
  Failure failure(Outcome outcome, std::string code, std::string reason) const { return {outcome, std::move(code), stage_, std::move(reason), draw_.seed}; }
  // `conditions`: under which the call is made; its slot is 0 and its seed drawn.
  std::optional<Failure> try_check(const Check& check, const char* code, Trial conditions = {});
  std::optional<Failure> judge_slot(size_t slot, const Check& check, const char* code);
  std::optional<Failure> first_trial();
  std::optional<Failure> repeats();
  std::optional<Failure> numerics();
  std::optional<Failure> shapes();
  std::optional<Failure> rows();
  std::optional<Failure> one_element_apart();
  std::optional<Failure> teams();
  std::optional<Failure> unseen();
  std::optional<Failure> two_at_once();
  std::optional<Failure> endurance();
  std::optional<Failure> conduct();
  std::optional<Failure> failure(const std::optional<Misconduct>& found) const;

  RemoteProgram& remote_;
  const ValidationSpec& spec_;
  const TimedBinding& timed_;
  const ExpectedOf& expected_;
  ErrorConstant declared_;
  Random secret_;  // what this candidate alone is asked
  std::string stage_;
  std::vector<std::byte> first_outputs_;
  std::vector<std::string> canary_hashes_;
  Draw draw_;
};

}  // namespace amdahl
