#pragma once
// Times of two arms against each other. The unit of evidence is one pair of fresh processes: anything less measures where
// this process happened to lie (docs/trust.md).
//
// Nothing is timed whose outputs are not looked at. Both arms get the same numbers, which neither has seen before and which are not there before the clock
// runs; what they give back must agree, and among the fresh numbers hide, unannounced, draws whose right outputs are known to the last bit. After
// the race both must be as they were before it: threads, memory, signals, processors.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/device_info.h"
#include "base/random.h"
#include "tuner/validation/remote_program.h"
#include "tuner/validation/validate.h"

namespace amdahl {

// Fixed before timing, by the incumbent alone, and equal for both arms. A segment is a row of calls, each with operands of
// its own, that lasts so long, where memory allows, that the clock and the hand-over (subtracted) are small; short segments in many alternations keep
// drift out.
struct Segments {
  int calls = 1, blocks = 10;  // a block is ABBA or BAAB
};
// What one machine's clock asks for.
struct SegmentLimits {
  double shortest_seconds = 1.5e-3;  // the hand-over to a process takes some 20 us
  int most_blocks = 10;              // as the budget allows
};
// A card is handed a whole row at once and times it itself: rows of 0.3 ms vary by 0.02 to 0.3%, less than its buffers' places make (1 to 13%).
inline constexpr SegmentLimits kByClockOfDevice{0.5e-3, 4};
Segments plan_segments(double call_seconds, double budget_seconds, size_t operand_bytes, size_t operand_budget, int fewest_blocks = 2,
                       const SegmentLimits& limits = {});
// Of workers of this backend.
SegmentLimits segment_limits(const WorkerBackend& backend);
// Bytes of inputs and outputs of a segment's calls together: half of the last-level cache, 48 MiB at most. A step reads what another has just written;
// calls over more than the cache holds wait for memory where the model's steps do not (docs/decisions/0021-as-warm-as-in-the-model.md).
size_t operand_budget(const DeviceInfo& device);
// Bytes of one call's inputs and outputs.
size_t operand_bytes(const Program& program);

// Whose outputs of a call are wrong by float64. Both arms have had the same inputs, which `incumbent` still holds in `slot`.
enum class AtFault { kNobody, kIncumbent, kChallenger };
using Referee = std::function<AtFault(RemoteProgram& incumbent, RemoteProgram& challenger, size_t slot)>;

// What the calls of a race read.
struct Contents {
  Distribution distribution = Distribution::kNormal;
  std::vector<Draw> canaries;   // at most one call of each, at a random place
  double tolerance = 0;         // between the arms' outputs; when negative, of their root mean square
  double share_allowed = 1e-3;  // of elements beyond it: where a rounding decides a comparison, honest programs differ
  // Asked about a call where more are: numbers drawn alike may be worse than those that the tolerance is from. Two large scores that tie, or overflow in half
  // precision, are a head of attention in some calls of needles. None: the challenger is to blame.
  Referee referee;
};

// One side of a race.
struct LivingArm {
  RemoteProgram* remote = nullptr;
  std::vector<std::string> canary_hashes;  // by Contents::canaries; empty: not known yet, none is hidden
};

struct Timing {
  double seconds_a = 0, seconds_b = 0;         // one call, median over segments
  double log_ratio = 0;                        // log(a / b), median over rows: a segment of each arm, one after the other
  std::vector<double> segments_a, segments_b;  // one call, by segment in order of time: what other rules would decide on
  // All calls together, each row at most by the processor time that its threads took: a row that waited for a processor says nothing of a kernel, one call in
  // ten that computes for long does, and no median shows it.
  double worked_a = 0, worked_b = 0;
  double single_a = 0, single_b = 0;  // one call, one at a time; 0 when segments are that already
  uint64_t seed = 0;                  // of the numbers that the calls read: from the operating system, for this race alone
};

// Median of log(a / b) over rows; 0 for none. A neighbour on the core slows both runs of a row (phases of 20 to 80 ms were seen), and their
// ratio does not show it: of eight rows of 2.5 ms, medians of each arm differed by up to 3% for equal code, the median of ratios by half that.
double median_log_ratio(const std::vector<double>& a, const std::vector<double>& b);

// Why a race proves nothing about speed. `challenger` false: the incumbent is at fault.
struct Disqualification {
  bool challenger = true;
  std::string code, reason;
};
// Of the challenger's trial; what the incumbent is at fault for decides nothing.
std::optional<Failure> failure_of(const std::optional<Disqualification>& disqualified, const std::string& stage, uint64_t seed);

// `deadline`: of one segment. Throws WorkerDied, Stopped. `disqualification` is set by the first one found; the timing is worthless then.
Timing alternate(LivingArm& incumbent, LivingArm& challenger, const Segments& segments, const Contents& contents, int threads, double deadline, Random& random,
                 std::optional<Disqualification>* disqualified);

// One arm as a pair of fresh processes gets it. `programs` compute the same from different builds of the same code (placebo
// builds: other code addresses); one is drawn for each pair.
struct Arm {
  std::vector<const Program*> programs;
  std::vector<std::string> canary_hashes;
};

// What both arms of a pair share.
struct PairSettings {
  WorkerOptions worker;
  InputSource* input_source = nullptr;
  const ConstantsFile* constants = nullptr;
  Segments segments;
  int slots = 3, copies = 1;
  Draw weights;
  Contents contents;
  double load_seconds = 60, call_seconds = 10;  // deadlines: of binding, of one segment
};

// A fresh worker with the program bound as for timing, its memory touched and its threads started.
std::unique_ptr<RemoteProgram> start_arm(const Program& program, const PairSettings& settings, Random& random);

struct PairResult {
  Timing timing;        // a: incumbent, b: challenger
  std::string dropped;  // not empty: a reason that neither looks at which arm was faster nor can be caused by one
  std::optional<Disqualification> disqualified;
};
// Two fresh processes, one an arm, started in random order.
class ArmPair {
 public:
  // Draws a build of each arm.
  ArmPair(const Arm& incumbent, const Arm& challenger, const PairSettings& settings, Random& random);
  // Binds both, in the order in which they were started, and races them in random blocks. Every time memory lies elsewhere.
  PairResult measure(const PairSettings& settings, Random& random);

 private:
  bool incumbent_first_;
  std::vector<std::string> hashes_[2];
  std::unique_ptr<RemoteProgram> remote_[2];  // incumbent, challenger
};

// One pair of fresh processes, measured once.
PairResult measure_pair(const Arm& incumbent, const Arm& challenger, const PairSettings& settings, Random& random);

}  // namespace amdahl
