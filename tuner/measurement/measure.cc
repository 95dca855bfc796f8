#include "tuner/measurement/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "base/counted.h"
#include "base/entropy.h"
#include "base/in_parallel.h"
#include "base/printable.h"
#include "base/statistics.h"
#include "tuner/measurement/cpu_time.h"
#include "tuner/measurement/others_time.h"
#include "tuner/validation/conduct.h"

namespace amdahl {
namespace {

constexpr int kMostCalls = 256;     // of a segment: each has mappings of its own
constexpr double kAsOldOnes = 0.9;  // share of elements in which old outputs differ, at least
constexpr int kSingles = 6;         // calls one at a time, beside segments of several
constexpr int kCallsOfThread = 2;   // whose numbers are made, and looked at, by one thread: a thread costs some 30 us, a call of a megabyte ten times that

}  // namespace

SegmentLimits segment_limits(const WorkerBackend& backend) { return backend.candidates_run_on_host() ? SegmentLimits{} : kByClockOfDevice; }

Segments plan_segments(double call_seconds, double budget_seconds, size_t operand_bytes, size_t operand_budget, int fewest_blocks,
                       const SegmentLimits& limits) {
  Segments s;
  call_seconds = std::max(call_seconds, 1e-7);
  const double affordable = std::max(1.0, static_cast<double>(operand_budget) / static_cast<double>(std::max<size_t>(operand_bytes, 1)));
  s.calls = static_cast<int>(std::min({std::ceil(limits.shortest_seconds / call_seconds), affordable, double{kMostCalls}}));
  s.calls = std::max(s.calls, 1);
  // Segments of one process differ by less than processes do: where every call brings megabytes of fresh numbers, fewer do.
  const double most_blocks = static_cast<double>(s.calls) * static_cast<double>(operand_bytes) > 4e6 ? std::min(4, limits.most_blocks) : limits.most_blocks;
  s.blocks = static_cast<int>(std::clamp(budget_seconds / (4 * s.calls * call_seconds), static_cast<double>(fewest_blocks), most_blocks));
  return s;
}

size_t operand_budget(const DeviceInfo& device) { return std::min(size_t{48} << 20, static_cast<size_t>(device.l3_bytes) / 2); }

size_t operand_bytes(const Program& program) {
  size_t bytes = 0;
  for (const auto* numbers : {&program.inputs, &program.outputs})
    for (int number : *numbers) bytes += program.buffers[static_cast<size_t>(number)].bytes;
  return bytes;
}

double median_log_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t row = 0; row < std::min(a.size(), b.size()); ++row) ratios.push_back(std::log(a[row] / b[row]));
  return median(std::move(ratios));
}

namespace {

class Race {
 public:
  Race(LivingArm& incumbent, LivingArm& challenger, const Segments& segments, const Contents& contents, int threads, double deadline, Random& random)
      : arms_{&incumbent, &challenger},
        segments_(segments),
        contents_(contents),
        deadline_(deadline),
        random_(random),
        cpu_time_{CpuTime(threads), CpuTime(threads)} {}

  Timing run() {
    remote(0).new_pool(numbers_.next());
    hide_canaries();
    for (int arm : {0, 1}) before_[arm] = remote(arm).worker().state();
    handover_ = std::min(remote(0).worker().handover(deadline_), remote(1).worker().handover(deadline_));
    for (int block = 0; block < segments_.blocks && !disqualified_; ++block) {
      const int first = static_cast<int>(random_.below(2));
      for (const auto& order : {std::pair{first, 1 - first}, std::pair{1 - first, first}})
        if (!disqualified_) row(order.first, order.second, segments_.calls, times_);
    }
    if (segments_.calls > 1)
      for (int i = 0; i < kSingles && !disqualified_; ++i) row(i % 2, 1 - i % 2, 1, singles_);
    if (!disqualified_) look_at_cpu_time();
    if (!disqualified_) look_at_conduct();
    Timing t;
    t.seed = seed_;
    t.seconds_a = median(times_[0]);
    t.seconds_b = median(times_[1]);
    t.log_ratio = median_log_ratio(times_[0], times_[1]);
    t.worked_a = worked_[0];
    t.worked_b = worked_[1];
    t.single_a = median(singles_[0]);
    t.single_b = median(singles_[1]);
    t.segments_a = std::move(times_[0]);
    t.segments_b = std::move(times_[1]);
    return t;
  }
  const std::optional<Disqualification>& disqualified() const { return disqualified_; }

 private:
  struct Hidden {
    int row, call;
    size_t canary;
  };

  RemoteProgram& remote(int arm) { return *arms_[arm]->remote; }

  // Known draws get rows of their own: two of them in one call would be one.
  void hide_canaries() {
    for (size_t k = 0; k < contents_.canaries.size(); ++k) {
      if (k >= arms_[0]->canary_hashes.size() || k >= arms_[1]->canary_hashes.size()) continue;
      const int rows = 2 * segments_.blocks, lo = static_cast<int>(k) * rows / static_cast<int>(contents_.canaries.size()),
                hi = static_cast<int>(k + 1) * rows / static_cast<int>(contents_.canaries.size());
      if (hi <= lo) continue;
      hidden_.push_back(
          {lo + static_cast<int>(random_.below(static_cast<uint64_t>(hi - lo))), static_cast<int>(random_.below(static_cast<uint64_t>(segments_.calls))), k});
    }
  }

  // The same new numbers to one arm, then to the other.
  void row(int first, int second, int calls, std::vector<double> (&times)[2]) {
    const size_t slots = remote(0).slots();
    // Both stand still, with their threads awake, when the numbers are written: who computes ahead has nothing to compute with.
    for (int arm : {second, first}) remote(arm).worker().wake(numbers_.next() >> 1, deadline_);
    freshen(calls);
    for (const Hidden& h : hidden_)
      if (h.row == rows_ && calls == segments_.calls) remote(0).draw((at_ + static_cast<size_t>(h.call)) % slots, contents_.canaries[h.canary]);
    for (int arm : {first, second}) {
      const RunTime time = remote(arm).worker().run(static_cast<int>(at_), calls, 1, deadline_);
      // A row is planned to be many times as long as the hand-over (20 us): one that seems shorter was begun on a machine that did not let the hand-over through.
      const double least = calls == segments_.calls ? time.seconds / 2 : 1e-9;
      const double seconds = std::max(time.seconds - handover_, least);
      times[arm].push_back(seconds / calls);
      worked_[arm] += time.cpu_seconds > 0 ? std::min(seconds, time.cpu_seconds) : seconds;  // a clock that counts in ticks may show none
      cpu_time_[arm].add(time);
      calls_[arm] += calls;
    }
    look_at_outputs(calls);
    at_ = (at_ + static_cast<size_t>(calls)) % slots;
    ++rows_;
  }

  // The first call makes the pool that the others, at work together, cut their numbers from.
  void freshen(int calls) {
    const size_t slots = remote(0).slots();
    std::vector<Random> numbers;
    for (int i = 0; i < calls; ++i) numbers.emplace_back(numbers_.next());
    const auto one = [&](int64_t i) { remote(0).freshen((at_ + static_cast<size_t>(i)) % slots, contents_.distribution, numbers[static_cast<size_t>(i)]); };
    one(0);
    in_parallel(calls - 1, 1, kCallsOfThread, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) one(1 + i);
    });
  }

  // Of one call of both arms.
  struct Compared {
    std::vector<int64_t> different;  // elements, by output
    bool slack_intact = true;
  };
  Compared compare(size_t slot) {
    const std::vector<std::byte> a = remote(0).outputs(slot), b = remote(1).outputs(slot);
    const double tolerance = contents_.tolerance >= 0 ? contents_.tolerance : -contents_.tolerance * root_mean_square(remote(0).program(), a);
    return {count_different(remote(0).program(), a, remote(1).program(), b, tolerance), remote(1).slack_intact(slot)};
  }

  // The same call once more: who gives other bits than before computes from more than its inputs.
  bool gives_others(int arm, size_t slot) {
    const std::string before = remote(arm).outputs_hash(slot);
    remote(arm).worker().run(static_cast<int>(slot), 1, 1, deadline_);
    return remote(arm).outputs_hash(slot) != before;
  }

  // Calls of this race may differ as much again where float64 says that nobody is wrong, but not as old outputs do: in all elements but those few that agree by
  // chance (3% within a tolerance of 6% of their size), unless these do.
  void judge_difference(size_t slot, const std::vector<int64_t>& different) {
    const AtFault fault = contents_.referee ? contents_.referee(remote(0), remote(1), slot) : AtFault::kChallenger;
    const double share = share_of_elements(remote(0).program(), different);
    if (fault == AtFault::kNobody) share_allowed_ = share < kAsOldOnes ? std::min(2 * share, kAsOldOnes) : 1;
    else blame_for_difference(fault == AtFault::kIncumbent ? 0 : 1, slot, different);
  }

  void blame_for_difference(int arm, size_t slot, const std::vector<int64_t>& different) {
    const Program& program = remote(0).program();
    const auto most = static_cast<size_t>(std::max_element(different.begin(), different.end()) - different.begin());
    const auto differ = std::count_if(different.begin(), different.end(), [](int64_t n) { return n > 0; });
    std::string reason = fmt::format("in a timed call {:.3g}% of the outputs are not what the incumbent gives", 100 * share_of_elements(program, different));
    if (different.size() > 1) {
      reason += fmt::format(" (in {} of {}; {} of '{}')", differ, different.size(), counted(different[most], "element"),
                            shown(program.buffers[static_cast<size_t>(program.outputs[most])].name));
    }
    const bool incumbent_wavers = gives_others(0, slot), challenger_wavers = gives_others(1, slot);
    if (incumbent_wavers || challenger_wavers)
      reason += fmt::format("; asked again, {} others", incumbent_wavers && challenger_wavers ? "both give"
                                                        : incumbent_wavers                    ? "the incumbent gives"
                                                                                              : "it gives");
    if (!contents_.referee) arm = incumbent_wavers && !challenger_wavers ? 0 : 1;
    blame(arm, "stale", std::move(reason));
  }

  void look_at_outputs(int calls) {
    const size_t slots = remote(0).slots();
    for (const Hidden& h : hidden_) {
      if (h.row != rows_ || calls != segments_.calls) continue;
      const size_t slot = (at_ + static_cast<size_t>(h.call)) % slots;
      for (int arm : {0, 1})
        if (remote(arm).outputs_hash(slot) != arms_[arm]->canary_hashes[h.canary])
          return blame(arm, "stale", "a timed call gave other bits than the same inputs gave before");
    }
    std::vector<Compared> compared(static_cast<size_t>(calls));
    in_parallel(calls, 1, kCallsOfThread, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) compared[static_cast<size_t>(i)] = compare((at_ + static_cast<size_t>(i)) % slots);
    });
    for (size_t i = 0; i < compared.size(); ++i) {
      if (share_of_elements(remote(0).program(), compared[i].different) > share_allowed_) judge_difference((at_ + i) % slots, compared[i].different);
      if (disqualified_) return;
      if (!compared[i].slack_intact) return blame(1, "wrote-beside", "wrote beside an output in a timed call");
    }
  }

  void look_at_cpu_time() {
    for (int arm : {0, 1})
      if (auto excess = cpu_time_[arm].excess()) return blame(arm, "cpu-time", std::move(*excess));
  }

  void look_at_conduct() {
    for (int arm : {0, 1}) {
      WorkerProcess& worker = remote(arm).worker();
      const Report report = worker.report(deadline_);
      const ProcessState now = worker.state();
      auto found = misconduct(report, now, before_[arm]);
      if (!found) found = lost_memory(now.resident_bytes - before_[arm].resident_bytes, calls_[arm]);
      if (found) return blame(arm, found->code, found->reason + " in a race");
    }
  }

  void blame(int arm, std::string code, std::string reason) { disqualified_ = Disqualification{arm == 1, std::move(code), std::move(reason)}; }

  LivingArm* arms_[2];
  const Segments segments_;
  const Contents& contents_;
  double deadline_;
  Random& random_;  // what is drawn without looking at arms: orders, places
  const uint64_t seed_ = entropy();
  Random numbers_{seed_};  // what calls read
  std::vector<Hidden> hidden_;
  double share_allowed_ = contents_.share_allowed;
  double handover_ = 0;  // the same for both: neither is favoured
  CpuTime cpu_time_[2];
  ProcessState before_[2];
  int64_t calls_[2] = {0, 0};
  double worked_[2] = {0, 0};
  std::vector<double> times_[2], singles_[2];
  size_t at_ = 0;  // next slot
  int rows_ = 0;
  std::optional<Disqualification> disqualified_;
};

}  // namespace

std::optional<Failure> failure_of(const std::optional<Disqualification>& disqualified, const std::string& stage, uint64_t seed) {
  if (!disqualified) return std::nullopt;
  if (!disqualified->challenger)
    return Failure{Outcome::kInconclusive, "incumbent-" + disqualified->code, stage, "the incumbent: " + disqualified->reason, seed};
  return Failure{is_misconduct(disqualified->code) ? Outcome::kMistrusted : Outcome::kWrong, disqualified->code, stage, disqualified->reason, seed};
}

Timing alternate(LivingArm& incumbent, LivingArm& challenger, const Segments& segments, const Contents& contents, int threads, double deadline, Random& random,
                 std::optional<Disqualification>* disqualified) {
  Race race(incumbent, challenger, segments, contents, threads, deadline, random);
  const Timing timing = race.run();
  *disqualified = race.disqualified();
  return timing;
}

namespace {

std::unique_ptr<RemoteProgram> spawn(const Program& program, const PairSettings& settings, Random& random) {
  WorkerOptions options = settings.worker;
  options.layout_seed = random.next();
  return std::make_unique<RemoteProgram>(options, program, *settings.input_source, *settings.constants);
}

// Binding touches operands and weights, a call the one workspace; two calls start threads and fill caches. One does where it runs through the caches many times.
void warm(RemoteProgram& remote, const PairSettings& settings) {
  if (remote.worker().run(0, 1, 1, settings.call_seconds).seconds < 0.5) remote.worker().run(0, 1, 1, settings.call_seconds);
}

const Program& draw_build(const Arm& arm, Random& random) { return *arm.programs[random.below(arm.programs.size())]; }

}  // namespace

std::unique_ptr<RemoteProgram> start_arm(const Program& program, const PairSettings& settings, Random& random) {
  auto remote = spawn(program, settings, random);
  remote->bind(Layout::kModel, settings.slots, settings.copies, settings.weights, settings.load_seconds);
  for (size_t slot = 0; slot < remote->slots(); ++slot) remote->freshen(slot, settings.contents.distribution, random);
  warm(*remote, settings);
  return remote;
}

ArmPair::ArmPair(const Arm& incumbent, const Arm& challenger, const PairSettings& settings, Random& random)
    : incumbent_first_(random.below(2) == 0), hashes_{incumbent.canary_hashes, challenger.canary_hashes} {
  const Program* programs[] = {&draw_build(incumbent, random), &draw_build(challenger, random)};
  // Both are started by this thread (a worker dies with the thread that started it).
  for (const int arm : {incumbent_first_ ? 0 : 1, incumbent_first_ ? 1 : 0}) remote_[arm] = spawn(*programs[arm], settings, random);
}

PairResult ArmPair::measure(const PairSettings& settings, Random& random) {
  const auto bind = [&](RemoteProgram& h) { h.bind(Layout::kModel, settings.slots, settings.copies, settings.weights, settings.load_seconds); };
  // Who comes first is drawn for all of this, not only for the start: memory is laid out in that order.
  RemoteProgram &first = *remote_[incumbent_first_ ? 0 : 1], &second = *remote_[incumbent_first_ ? 1 : 0];
  std::future<void> other = std::async(std::launch::async, [&] { bind(second); });
  bind(first);
  other.get();
  for (size_t slot = 0; slot < first.slots(); ++slot) remote_[0]->freshen(slot, settings.contents.distribution, random);
  for (RemoteProgram* h : {&first, &second}) warm(*h, settings);

  const OthersTime others({remote_[0]->worker().pid(), remote_[1]->worker().pid()});
  PairResult result;
  LivingArm left{remote_[0].get(), hashes_[0]}, right{remote_[1].get(), hashes_[1]};
  result.timing = alternate(left, right, settings.segments, settings.contents, settings.worker.threads, settings.call_seconds, random, &result.disqualified);
  // Others' work on the processors is not in what a device's own clock says.
  if (settings.worker.backend->candidates_run_on_host()) result.dropped = others.disturbance();
  return result;
}

PairResult measure_pair(const Arm& incumbent, const Arm& challenger, const PairSettings& settings, Random& random) {
  return ArmPair(incumbent, challenger, settings, random).measure(settings, random);
}

}  // namespace amdahl
