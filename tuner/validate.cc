#include "tuner/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/hash.h"
#include "graph/op.h"

namespace amdahl {
namespace {

constexpr double kLoadSeconds = 30;

LoadRequest request_of(const Subject& subject, Layout layout, const Draw& draw) {
  LoadRequest r;
  r.program = &subject.program;
  r.blob = &subject.blob;
  r.layout = layout;
  r.weights_seed = draw.weights_seed;
  r.ternary = draw.ternary;
  return r;
}

// Bounds propagated through several nonlinear nodes may be far above any honest error: then twice the starter's error is
// asked for too. Where they are tight (1e-4 of the value) they are the judge alone: an algorithm with another constant,
// like Winograd's, is allowed what the bound allows.
bool within_ratchet(const Check& check, const Discrepancy& d) {
  if (d.rms_bound <= 1e-4 * d.rms_value) return true;
  const double floor = 8 * kU32 * d.rms_value;
  return d.rms_error <= 2 * check.starter_rms_error + floor && d.max_error <= 2 * check.starter_max_error + 4 * floor;
}

int64_t unwritten(const Program& program, const std::vector<std::byte>& outputs, uint64_t poison, int* which) {
  size_t at = 0;
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    const Program::Buffer& b = program.buffers[static_cast<size_t>(program.outputs[o])];
    const int64_t n = count_poisoned(outputs.data() + at, b.dtype, static_cast<int64_t>(b.bytes / size_of(b.dtype)),
                                     poison + o);
    if (n > 0) {
      *which = program.outputs[o];
      return n;
    }
    at += b.bytes;
  }
  return 0;
}

std::string hash_of(const std::vector<std::byte>& bytes) { return hash_hex(bytes.data(), bytes.size()); }

}  // namespace

double Judge::deadline() const { return std::clamp(100 * call_seconds, 3.0, 60.0); }

Failure failure_of(const Death& death, const std::string& stage, uint64_t seed) {
  switch (death.kind) {
    case Death::Kind::kSignal: return {Outcome::kCrashed, "crashed", stage, death.reason, seed};
    case Death::Kind::kOutOfBounds: return {Outcome::kCrashed, "out-of-bounds", stage, death.reason, seed};
    case Death::Kind::kReadOnly: return {Outcome::kCrashed, "wrote-read-only", stage, death.reason, seed};
    case Death::Kind::kMemory: return {Outcome::kCrashed, "memory-limit", stage, death.reason, seed};
    case Death::Kind::kExit: return {Outcome::kCrashed, "exited", stage, death.reason, seed};
    case Death::Kind::kTimeout: return {Outcome::kTimedOut, "timeout", stage, death.reason, seed};
    case Death::Kind::kForbidden: return {Outcome::kMistrusted, "forbidden-call", stage, death.reason, seed};
    case Death::Kind::kGarbage: return {Outcome::kMistrusted, "forged-reply", stage, death.reason, seed};
  }
  return {Outcome::kCrashed, "crashed", stage, death.reason, seed};
}

Judge make_judge(const std::string& signature, std::vector<InputRange> ranges, const Subject& starter, uint64_t seed,
                 WorkerProcess& worker, const ExpectedOf& expected) {
  Judge judge;
  judge.signature = signature;
  judge.ranges = std::move(ranges);
  judge.call_seconds = 0.3;  // until measured: 30 s
  Random seeds(seed ^ hash64(signature));
  const uint64_t weights_seed = seeds.next() >> 1;
  bool substance = false;
  std::string refused;
  bool ternary_loaded = false;
  worker.load(request_of(starter, Layout::kEnd, {Family::kNormal, 0, weights_seed, false}), kLoadSeconds);
  // Integers, with weights of their own, come last. An output of millions of elements sees many draws in one trial, and its
  // oracle takes seconds a family.
  std::vector<Family> families{Family::kNormal,    Family::kUniform, Family::kOffset,  Family::kLarge,
                               Family::kHeavyTail, Family::kEqual,   Family::kSpecial, Family::kInteger};
  if (starter.output_bytes() > (size_t{8} << 20)) families = {Family::kNormal, Family::kHeavyTail, Family::kSpecial, Family::kInteger};
  for (Family family : families) {
    const Draw draw{family, seeds.next() >> 1, weights_seed, family == Family::kInteger};
    const auto want = expected(draw);
    const bool plain = family == Family::kNormal || family == Family::kUniform;
    if (want->judged < 0.5 || (draw.ternary && !want->exact)) continue;
    if (draw.ternary && !ternary_loaded) {
      worker.load(request_of(starter, Layout::kEnd, draw), kLoadSeconds);
      ternary_loaded = true;
    }
    worker.inputs(family, draw.seed, judge.ranges, judge.deadline());
    const auto start = std::chrono::steady_clock::now();
    const TrialReply reply = worker.trial(0, draw.seed, starter.output_bytes(), judge.deadline());
    judge.call_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Discrepancy d = compare(*want, starter.program, reply.outputs);
    if (!d.within) {
      if (plain && refused.empty()) refused = fmt::format("on {} inputs {}", name_of(family), d.message);
      continue;
    }
    if (draw.ternary && d.max_error > 0) continue;  // sums too large to be exact
    substance = substance || (plain && want->nonzero > 0.1);
    judge.checks.push_back({draw, d.max_error, d.rms_error});
  }
  judge.honest = worker.state();
  const bool starts_plain = !judge.checks.empty() && (judge.checks[0].draw.family == Family::kNormal ||
                                                      judge.checks[0].draw.family == Family::kUniform);
  if (!starts_plain)
    judge.unusable = refused.empty() ? "the oracle bounds under half of its outputs" : "the starter itself is wrong: " + refused;
  else if (!substance)
    judge.unusable = "its expected outputs are nearly all zero: they would prove nothing";
  return judge;
}

std::optional<Failure> Validation::guarded(std::initializer_list<Stage> stages) {
  try {
    for (Stage stage : stages)
      if (auto f = (this->*stage)()) return f;
    return std::nullopt;
  } catch (const WorkerDied& died) {
    return failure_of(died.death, stage_, draw_.seed);
  } catch (const WorkerRefused& refused) {
    return failure(Outcome::kCrashed, "load-failed", refused.what());
  }
}

std::optional<Failure> Validation::smoke() { return guarded({&Validation::first_trial, &Validation::conduct}); }

std::optional<Failure> Validation::rest() {
  return guarded({&Validation::numerics, &Validation::determinism, &Validation::conduct, &Validation::shapes});
}

void Validation::load(Layout layout, const Draw& draw) {
  worker_.load(request_of(subject_, layout, draw), kLoadSeconds);
}

// A trial of `check` in the loaded layout, judged.
std::optional<Failure> Validation::try_check(const Check& check, std::vector<std::byte>* outputs) {
  draw_ = check.draw;
  worker_.inputs(draw_.family, draw_.seed, judge_.ranges, judge_.deadline());
  const uint64_t poison = draw_.seed * 31 + ++trials_;
  TrialReply reply = worker_.trial(0, poison, subject_.output_bytes(), judge_.deadline());
  int which = 0;
  if (const int64_t n = unwritten(subject_.program, reply.outputs, poison, &which))
    return failure(Outcome::kWrong, "unwritten", fmt::format("{} elements of '{}' were not written", n,
                                                subject_.program.buffers[static_cast<size_t>(which)].name));
  if (!reply.damaged.empty()) return failure(Outcome::kMistrusted, "wrote-beside", "wrote beside " + reply.damaged);
  if (reply.float_control_changed)
    return failure(Outcome::kMistrusted, "left-float-control", "changed the floating-point control word (rounding, flush to zero)");
  const Discrepancy d = compare(*expected_(draw_), subject_.program, reply.outputs);
  const std::string on = fmt::format("on {} inputs: ", name_of(draw_.family));
  if (!d.within) return failure(Outcome::kWrong, "wrong-value", on + d.message);
  if (!within_ratchet(check, d))
    return failure(Outcome::kWrong, "less-precise", on + fmt::format("rms error {:.2g}, the starter's is {:.2g}", d.rms_error,
                                                     check.starter_rms_error));
  if (outputs) *outputs = std::move(reply.outputs);
  return std::nullopt;
}

std::optional<Failure> Validation::first_trial() {
  stage_ = "smoke";
  load(Layout::kEnd, judge_.checks[0].draw);
  std::vector<std::byte> outputs;
  if (auto f = try_check(judge_.checks[0], &outputs)) return f;
  first_hash_ = hash_of(outputs);
  first_state_ = worker_.state();
  return std::nullopt;
}

std::optional<Failure> Validation::numerics() {
  stage_ = "numerics";
  load(Layout::kEnd, judge_.checks[0].draw);
  for (size_t i = 1; i < judge_.checks.size(); ++i)
    if (!judge_.checks[i].draw.ternary)
      if (auto f = try_check(judge_.checks[i])) return f;
  return std::nullopt;
}

std::optional<Failure> Validation::determinism() {
  stage_ = "determinism";
  for (int again = 0; again < 2; ++again) {
    std::vector<std::byte> outputs;
    if (auto f = try_check(judge_.checks[0], &outputs)) return f;
    if (hash_of(outputs) != first_hash_)
      return failure(Outcome::kWrong, "nondeterministic", "the same inputs gave other bits: a race or an uninitialised value");
  }
  return std::nullopt;
}

std::optional<Failure> Validation::conduct() {
  stage_ = "conduct";
  const ProcessState now = worker_.state();
  if (now.threads > std::max(threads_, judge_.honest.threads) || now.threads > first_state_.threads)
    return failure(Outcome::kMistrusted, "left-threads", fmt::format("left threads behind: {} now, {} after the first call", now.threads,
                                                     first_state_.threads));
  if (now.descriptors > judge_.honest.descriptors)
    return failure(Outcome::kMistrusted, "left-descriptors", fmt::format("left {} files open", now.descriptors - judge_.honest.descriptors));
  if (now.caught_signals != judge_.honest.caught_signals)
    return failure(Outcome::kMistrusted, "left-handlers", "changed signal handlers");
  return std::nullopt;
}

// Exact probes need other weights, so they share the other layouts' loads.
std::optional<Failure> Validation::shapes() {
  stage_ = "shapes";
  const Check& last = judge_.checks.back();
  load(Layout::kShift, last.draw);
  if (auto f = try_check(last)) return f;
  load(Layout::kStart, judge_.checks[0].draw);
  return try_check(judge_.checks[0]);
}

}  // namespace amdahl
