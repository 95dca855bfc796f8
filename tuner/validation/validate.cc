#include "tuner/validation/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>

#include "base/counted.h"
#include "base/error.h"
#include "base/hash.h"
#include "graph/op.h"
#include "tuner/validation/ratchet.h"

namespace amdahl {
namespace {

// Inputs times 2^-24 lose no bit, and are far below any constant that a kernel could compare them with.
constexpr int kScale = -24;

template <typename Real>
bool scales_as(const std::byte* whole, const std::byte* scaled, size_t bytes) {
  constexpr Real kLeast = 1e-30, kNext = 1e-29;
  for (size_t i = 0; i < bytes; i += sizeof(Real)) {
    Real x, y;
    std::memcpy(&x, whole + i, sizeof x);
    std::memcpy(&y, scaled + i, sizeof y);
    const Real want = std::ldexp(x, kScale);
    if (std::abs(want) >= kLeast && want != y) return false;
    if (!(std::abs(want) >= kLeast) && !(std::abs(y) < kNext) && !std::isnan(x)) return false;
  }
  return true;
}

// Whether float outputs are those of `whole`, times 2^kScale; elements that lost bits to underflow are not asked.
bool scales(const Program& program, const std::vector<std::byte>& whole, const std::vector<std::byte>& scaled) {
  size_t at = 0;
  for (int number : program.outputs) {
    const Program::Buffer& b = program.buffers[static_cast<size_t>(number)];
    const bool is_wide = b.dtype == DType::kF64;
    if (!is_wide && b.dtype != DType::kF32) return false;
    if (!(is_wide ? scales_as<double> : scales_as<float>)(whole.data() + at, scaled.data() + at, b.bytes)) return false;
    at += b.bytes;
  }
  return true;
}

bool has_specials(const Draw& draw) { return draw.family == Family::kSpecial || draw.family == Family::kLimits || draw.weights == Weights::kSpecial; }

Draw scaled(Draw draw) {
  draw.scale = kScale;
  return draw;
}

}  // namespace

double Judge::deadline(int calls) const { return std::clamp(100 * call_seconds, 3.0, 60.0) + 10 * call_seconds * (calls - 1); }

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
    case Death::Kind::kStillWorking: return {Outcome::kMistrusted, "still-working", stage, death.reason, seed};
    case Death::Kind::kKilled: return {Outcome::kCrashed, "killed", stage, death.reason, seed};
  }
  return {Outcome::kCrashed, "crashed", stage, death.reason, seed};
}

namespace {

constexpr size_t kUnseen = 3;          // draws that a candidate alone is asked
constexpr int kTwins = 8;              // slots, which two instances take in turn
constexpr double kTwinsPatience = 10;  // seconds: two teams on the same processors wait for one another's time slices

// A program that uses an exported kernel may have given OpenMP other teams, or call from inside a parallel region, where a team has one thread.
std::vector<Trial> odd_teams(int asked) { return {{.team = 1}, {.team = asked + 1}, {.nested = true}}; }

void bind_two(Harness& harness, const Judge& judge) { harness.bind(Layout::kModel, kTwins, 1, judge.checks[0].draw, judge.deadline(), /*twin=*/true); }

// Finds what a judge needs to know by trying the starter.
class JudgeMaker {
 public:
  JudgeMaker(Judge& judge, Harness& starter, const ExpectedOf& expected) : judge_(judge), starter_(starter), expected_(expected) {}

  void make(uint64_t seed) {
    judge_.call_seconds = 0.3;  // until measured: 30 s
    Random seeds(seed ^ hash64(judge_.signature));
    const uint64_t weights_seed = seeds.next() >> 1;
    starter_.bind(Layout::kEnd, 1, 1, {Family::kNormal, 0, weights_seed}, 30);
    for (Draw draw : draws()) {
      draw.seed = seeds.next() >> 1;
      draw.weights_seed = weights_seed;
      if (draw.has_own_weights()) starter_.change_weights(draw, judge_.deadline());
      take(draw);
    }
    starter_.change_weights({Family::kNormal, 0, weights_seed}, judge_.deadline());
    conclude();
    if (judge_.unusable.empty()) judge_.honest = state_after_trials();  // which begin with the first check
  }

 private:
  // Those with weights of their own come last. An output of millions of elements sees many draws in one trial, and its
  // oracle takes seconds a draw: there one draw has both inputs and weights that reach far.
  std::vector<Draw> draws() const {
    const bool is_large = output_bytes(starter_.program()) > (size_t{8} << 20);
    std::vector<Draw> all;
    for (Family family : families(is_large)) all.push_back({family});
    if (!is_large) {
      for (Family family : {Family::kSpecial, Family::kLimits}) add_turns({family}, turns_of(Program::Role::kInput), all);
      all.insert(all.end(), {{Family::kExponents}, {Family::kWide}});
    }
    for (bool exchanged : {false, true}) {
      all.push_back({Family::kInteger});
      all.back().ternary = true;
      all.back().exchanged = exchanged;
    }
    const int weights = turns_of(Program::Role::kConstant);
    if (weights == 0) return all;
    for (const auto& [family, distribution] : pairs(is_large)) {
      Draw draw{family};
      draw.weights = distribution;
      add_turns(draw, distribution == Weights::kSpecial ? weights : 1, all);
    }
    return all;
  }

  // Of the starter's worker, after all that candidates go through.
  ProcessState state_after_trials() {
    WorkerProcess& worker = starter_.worker();
    for (const Trial& trial : odd_teams(starter_.program().threads)) worker.trial(trial, judge_.deadline());
    if (!judge_.too_large_for_two) {
      bind_two(starter_, judge_);
      worker.run_both(1, judge_.deadline(kTwins));
    }
    worker.run(0, 1, 1, judge_.deadline());
    return worker.state();
  }

  std::vector<Family> families(bool is_large) const {
    if (is_large) return {Family::kNormal, Family::kHeavyTail, Family::kNeedle, Family::kSpecial, Family::kExponents};
    return {Family::kNormal, Family::kUniform,   Family::kOffset, Family::kLarge, Family::kHeavyTail,
            Family::kEqual,  Family::kAlternate, Family::kPowers, Family::kNeedle};
  }

  // Needles let single weights be seen: tiny ones are not beside huge ones there. Infinity times a weight of zero is NaN. Denormal weights need inputs that lift their products to what can be judged.
  static std::vector<std::pair<Family, Weights>> pairs(bool is_large) {
    if (is_large) return {{Family::kNeedle, Weights::kWide}};
    return {{Family::kNeedle, Weights::kWide},
            {Family::kSpecial, Weights::kSparse},
            {Family::kNormal, Weights::kConstant},
            {Family::kPowers, Weights::kDenormal},
            {Family::kNormal, Weights::kSpecial}};
  }

  // Of the smallest tensor of float inputs, or of seeded weights; 0 where there are none.
  int turns_of(Program::Role role) const {
    int most = 0;
    for (const Program::Buffer& b : starter_.program().buffers)
      if (b.role == role && is_float(b.dtype) && b.blob_offset < 0) most = std::max(most, turns(numel(b.shape)));
    return most;
  }

  static void add_turns(Draw draw, int turns, std::vector<Draw>& all) {
    for (draw.turn = 0; draw.turn < std::max(1, turns); ++draw.turn) all.push_back(draw);
  }

  void leave_out(const Draw& draw, bool starter_is_wrong, std::string reason) { judge_.left_out.push_back({draw, starter_is_wrong, std::move(reason)}); }

  std::optional<Check> tried(const Draw& draw, Discrepancy* d) {
    const auto want = expected_(draw);
    if (want->judged < 0.5) leave_out(draw, false, fmt::format("the oracle bounds {:.0f}% of its outputs", 100 * want->judged));
    else if (draw.ternary && !want->exact) leave_out(draw, false, "its outputs are no integers below 2^24");
    if (want->judged < 0.5 || (draw.ternary && !want->exact)) return std::nullopt;
    starter_.draw(0, draw);
    starter_.poison_outputs(0, draw.seed);
    judge_.call_seconds = starter_.worker().run(0, 1, 1, judge_.deadline()).seconds;
    *d = compare(*want, starter_.program(), starter_.outputs(0));
    if (d->within && !draw.has_own_weights()) largest_bound_[draw.family] = d->max_bound;
    const bool plain = (draw.family == Family::kNormal || draw.family == Family::kUniform) && !draw.has_own_weights();
    if (!d->within) {
      leave_out(draw, true, d->message);
      if (plain && refused_.empty()) refused_ = fmt::format("on {} inputs {}", name_of(draw.family), d->message);
      return std::nullopt;
    }
    if (draw.ternary && d->max_error > 0) {
      leave_out(draw, false, "partial sums are no integers below 2^24");
      return std::nullopt;
    }
    substance_ = substance_ || (plain && want->nonzero > 0.1);
    return Check{draw, d->max_error, d->rms_error};
  }

  void take(const Draw& draw) {
    Discrepancy d;
    if (const auto check = tried(draw, &d)) judge_.checks.push_back(*check);
  }

  void conclude() {
    const bool starts_plain = !judge_.checks.empty() && (judge_.checks[0].draw.family == Family::kNormal || judge_.checks[0].draw.family == Family::kUniform);
    if (!starts_plain) judge_.unusable = refused_.empty() ? "the oracle bounds under half of its outputs" : "the starter itself is wrong: " + refused_;
    else if (!substance_) judge_.unusable = "its expected outputs are nearly all zero: they would prove nothing";
    if (!judge_.unusable.empty()) return;
    const Draw first = judge_.checks[0].draw;
    Draw nudged = first, other = first;
    nudged.nudged = true;
    other.seed ^= 0x5eed;
    double largest = 0;
    for (const Draw& draw : {other, nudged, first}) {
      Discrepancy d;
      if (const auto check = tried(draw, &d)) {
        judge_.known.push_back(*check);
        largest = std::max(largest, d.max_bound);
      }
    }
    if (judge_.known.empty()) {
      judge_.unusable = "the starter leaves its bounds on other numbers of the same kind: " + refused_;
      return;
    }
    judge_.timed = timed_numbers(first.family, largest);
    const std::vector<std::byte> whole = starter_.outputs(0);
    starter_.draw(0, scaled(first));
    starter_.worker().run(0, 1, 1, judge_.deadline());
    judge_.homogeneous = scales(starter_.program(), whole, starter_.outputs(0));
  }

  // `largest_bound`: on numbers of the first family. Each of two programs may be off by it; those of other draws may be twice as large.
  std::vector<TimedNumbers> timed_numbers(Family first, double largest_bound) const {
    std::vector<TimedNumbers> timed{{first, 4 * largest_bound}};
    const auto is_asked = [&](Family family) { return family != first && largest_bound_.count(family) > 0; };
    // Uniform numbers are smaller than normal ones, which large outputs are asked instead.
    if (first == Family::kNormal) timed.push_back({Family::kUniform, 4 * (is_asked(Family::kUniform) ? largest_bound_.at(Family::kUniform) : largest_bound)});
    if (is_asked(Family::kNeedle)) timed.push_back({Family::kNeedle, 4 * largest_bound_.at(Family::kNeedle)});
    return timed;
  }

  Judge& judge_;
  Harness& starter_;
  const ExpectedOf& expected_;
  std::map<Family, double> largest_bound_;  // by what inputs are drawn as, of the draws with usual weights that the starter passes
  bool substance_ = false;
  std::string refused_;
};

// As many as take some 10 ms at 50 GFLOP/s and 10 GB/s, which two cores reach.
int endurance_calls(const Work& work) {
  return static_cast<int>(std::clamp(std::min(5e8 / std::max(work.flops, 1.0), 1e8 / std::max(work.bytes, 1.0)), 8.0, 4096.0));
}

// Many elements or many operations of each: two seconds of oracle a candidate, were it asked all families.
bool is_dear(const Work& work) { return work.flops > 5e7 || work.bytes > 3e7; }

bool too_large_for_two(const Program& program) {
  size_t bytes = program.arena_bytes;
  for (const Program::Buffer& b : program.buffers) bytes += b.role == Program::Role::kConstant ? 2 * b.bytes : kTwins * b.bytes;
  return bytes > (size_t{256} << 20);
}

}  // namespace

Judge make_judge(const std::string& signature, std::vector<InputRange> ranges, const Work& work, Harness& starter, uint64_t seed, const ExpectedOf& expected) {
  Judge judge;
  judge.endurance_calls = endurance_calls(work);
  judge.dear = is_dear(work);
  judge.too_large_for_two = too_large_for_two(starter.program());
  judge.signature = signature;
  judge.ranges = std::move(ranges);
  JudgeMaker(judge, starter, expected).make(seed);
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
  return guarded({&Validation::repeats, &Validation::numerics, &Validation::unseen, &Validation::teams, &Validation::shapes, &Validation::two_at_once,
                  &Validation::rows, &Validation::endurance, &Validation::conduct});
}

// A trial of `check` in slot 0, judged. `code`: what a value outside its bound means here.
std::optional<Failure> Validation::try_check(const Check& check, const char* code, Trial conditions) {
  draw_ = check.draw;
  harness_.draw(0, draw_);
  conditions.seed = secret_.next() >> 1;
  harness_.poison_outputs(0, conditions.seed);
  if (std::string what = harness_.trial(conditions, judge_.deadline()); !what.empty()) return failure(Outcome::kMistrusted, "wrote-late", what);
  if (std::string what = harness_.unwritten(0, conditions.seed); !what.empty()) return failure(Outcome::kWrong, "unwritten", what);
  return judge_slot(0, check, code);
}

std::optional<Failure> Validation::judge_slot(size_t slot, const Check& check, const char* code) {
  if (!harness_.slack_intact(slot)) return failure(Outcome::kMistrusted, "wrote-beside", "wrote beside an output");
  const Discrepancy d = compare(*expected_(check.draw), harness_.program(), harness_.outputs(slot));
  const std::string weights = check.draw.weights == Weights::kNormal ? "" : fmt::format(" and {} weights", name_of(check.draw.weights));
  const std::string on = fmt::format("on {} inputs{}: ", name_of(check.draw.family), weights);
  if (!d.within) return failure(Outcome::kWrong, d.sign_of_zero ? "special-values" : code, on + d.message);
  // A narrower type must be exact on integers that it holds. An algorithm of other constants need not be: a third has no end.
  const bool must_be_exact = check.draw.ternary && !(declared_.products == ProductArithmetic{});
  if (check.draw.once) return std::nullopt;  // the starter was not asked
  // An algorithm that is declared rounds relative to the largest numbers near by: beside huge ones its error on small ones is no measure of it.
  if (!(declared_ == ErrorConstant{}) && reaches_far(check.draw)) return std::nullopt;
  // One number throughout is one error throughout: the starter's may be none by luck (a mean of 48 equal numbers came out exact, its variance zero, and its
  // normalised row with them).
  if (check.draw.family == Family::kEqual) return std::nullopt;
  if (const auto what = beyond_ratchet(check.starter_rms_error, check.starter_max_error, must_be_exact ? 2 : declared_.ratchet, d))
    return failure(Outcome::kWrong, "less-precise", on + *what);
  return std::nullopt;
}

std::optional<Failure> Validation::first_trial() {
  stage_ = "smoke";
  harness_.bind(Layout::kEnd, 1, 1, judge_.checks[0].draw, judge_.deadline());
  if (auto f = try_check(judge_.checks[0], "wrong-value")) return f;
  first_outputs_ = harness_.outputs(0);
  return std::nullopt;
}

// The same again, also with all threads on one CPU, where they meet in other orders.
std::optional<Failure> Validation::repeats() {
  stage_ = "determinism";
  harness_.bind(Layout::kEnd, 1, 1, judge_.checks[0].draw, judge_.deadline());
  for (bool squeezed : {false, true, false}) {
    harness_.worker().squeeze(squeezed);
    auto failed = try_check(judge_.checks[0], "nondeterministic");
    harness_.worker().squeeze(false);
    if (failed) return failed;
    if (!harness_.outputs_equal(0, first_outputs_))
      return failure(Outcome::kWrong, "nondeterministic", "the same inputs gave other bits: a race or an uninitialised value");
  }
  return std::nullopt;
}

std::optional<Failure> Validation::numerics() {
  stage_ = "numerics";
  // First, while the last contents at these addresses were the same but for one element of each input.
  for (const Check& check : judge_.known)
    if (check.draw.nudged)
      if (auto f = try_check(check, "stale")) return f;
  if (judge_.homogeneous) {
    draw_ = scaled(judge_.checks[0].draw);
    harness_.draw(0, draw_);
    harness_.worker().run(0, 1, 1, judge_.deadline());
    if (!scales(harness_.program(), first_outputs_, harness_.outputs(0)))
      return failure(Outcome::kWrong, "not-homogeneous", fmt::format("inputs times 2^{} do not give outputs times 2^{}, as the starter's do", kScale, kScale));
  }
  for (size_t i = 1; i < judge_.checks.size(); ++i) {
    Check check = judge_.checks[i];
    // Where bounds are wide, every bit of the weights is asked for too; those of fp32 show a weight of half precision.
    if (check.draw.exchanged && declared_.products.rounding == 0) continue;
    // An algorithm that is declared is bounded near numbers of one size; where sums of blocks overflow, its bound does not say so yet: of the specials it is
    // asked those that overflow nothing.
    if (!(declared_ == ErrorConstant{}) && reaches_far(check.draw)) {
      // In halves of bfloat16 an infinity reaches the whole block, which the bound does not follow since it counts infinities as large numbers.
      const bool bf16_halves = declared_.products.strassen > 0 && declared_.products.rounding > 0;
      if (check.draw.family != Family::kSpecial || check.draw.has_own_weights() || check.draw.turn > 0 || bf16_halves) continue;
      check.draw.turn = Draw::kNear;
    }
    // Outputs of one tile round relative to its largest tap, and at the border of an image that tap meets none of them; fractions of denormal taps lose bits.
    if (declared_.reach > 0 && (check.draw.weights == Weights::kWide || check.draw.weights == Weights::kDenormal)) continue;
    if (check.draw.ternary) check.draw.integer_bits = exact_bits(declared_.products);
    // The same addresses hold other weights now.
    if (check.draw.has_own_weights()) harness_.change_weights(check.draw, judge_.deadline());
    const char* code = check.draw.ternary ? "inexact" : has_specials(check.draw) ? "special-values" : "wrong-value";
    if (auto f = try_check(check, code)) return f;
  }
  return std::nullopt;
}

// Numbers that no other candidate was or will be asked: whoever saw how another one ended knows nothing of them.
std::optional<Failure> Validation::unseen() {
  stage_ = "numerics";
  harness_.change_weights(judge_.checks[0].draw, judge_.deadline());
  std::vector<Check> asked;
  for (const Check& known : judge_.checks)
    if (!known.draw.has_own_weights() && (declared_ == ErrorConstant{} || !reaches_far(known.draw))) asked.push_back(known);
  // Each takes an oracle of its own. Numbers as in the first check, and of others whose turn nobody can know.
  const size_t count = std::min<size_t>(asked.size(), judge_.dear ? 1 : kUnseen);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) std::swap(asked[i], asked[i + secret_.below(asked.size() - i)]);
    Check check = asked[i];
    check.draw.seed = secret_.next() >> 1;
    check.draw.once = true;
    const char* code = has_specials(check.draw) ? "special-values" : "wrong-value";
    if (auto f = try_check(check, code)) return f;
  }
  return std::nullopt;
}

std::optional<Failure> Validation::teams() {
  stage_ = "determinism";
  for (const Trial& team : odd_teams(harness_.program().threads))
    if (auto f = try_check(judge_.checks[0], "wrong-value", team)) return f;
  return std::nullopt;
}

std::optional<Failure> Validation::shapes() {
  stage_ = "shapes";
  for (Layout layout : {Layout::kShift, Layout::kStart}) {
    harness_.bind(layout, 1, 1, judge_.checks[0].draw, judge_.deadline());
    if (auto f = try_check(judge_.checks[0], "wrong-value")) return f;
  }
  return std::nullopt;
}

// As bound for timing, several calls in a row on the same numbers at other addresses: the same bits every time.
std::optional<Failure> Validation::rows() {
  stage_ = "determinism";
  harness_.bind(Layout::kModel, timed_.slots, timed_.copies, judge_.checks[0].draw, judge_.deadline());
  const size_t row = std::min<size_t>(harness_.slots(), 8);
  for (const Check& check : judge_.known) {
    draw_ = check.draw;
    for (size_t slot = 0; slot < row; ++slot) {
      harness_.draw(slot, draw_);
      harness_.poison_outputs(slot, draw_.seed + slot);
    }
    harness_.worker().run(0, static_cast<int>(row), 1, judge_.deadline(static_cast<int>(row)));
    if (auto f = judge_slot(0, check, "wrong-value")) return f;
    known_hashes_.push_back(harness_.outputs_hash(0));
    for (size_t slot = 1; slot < row; ++slot)
      if (harness_.outputs_hash(slot) != known_hashes_.back())
        return failure(Outcome::kWrong, "nondeterministic", fmt::format("call {} on the same inputs gave other bits", slot + 1));
  }
  return std::nullopt;
}

// Two instances of the model in one program, at work at once on other numbers: what a kernel keeps outside its workspace is found by the other.
std::optional<Failure> Validation::two_at_once() {
  if (judge_.too_large_for_two) return std::nullopt;
  stage_ = "determinism";
  bind_two(harness_, judge_);
  const Check* of[2] = {&judge_.known.front(), &judge_.known.back()};
  for (size_t slot = 0; slot < kTwins; ++slot) {
    harness_.draw(slot, of[slot % 2]->draw);
    harness_.poison_outputs(slot, secret_.next() >> 1);
  }
  const int times = std::clamp(judge_.endurance_calls / 16, 1, 256);
  const bool same = harness_.worker().run_both(times, kTwinsPatience + judge_.deadline(times * kTwins));
  for (size_t slot = 0; slot < kTwins; ++slot) {
    draw_ = of[slot % 2]->draw;
    if (auto f = judge_slot(slot, *of[slot % 2], "nondeterministic")) {
      f->reason = "with another instance at work: " + f->reason;
      return f;
    }
  }
  if (!same) return failure(Outcome::kWrong, "nondeterministic", "with another instance at work the same inputs gave other bits");
  return std::nullopt;
}

// Hundreds of calls and more at the same addresses: what grows with every call shows, and so does a kernel that behaves as long
// as it is looked at.
std::optional<Failure> Validation::endurance() {
  stage_ = "conduct";
  const int times = judge_.endurance_calls;
  const double deadline = judge_.deadline(times);
  // The first row pays for what is allocated once.
  harness_.worker().run(0, 1, 8, deadline);
  const int64_t before = harness_.worker().state().resident_bytes;
  harness_.worker().run(0, 1, times, deadline);
  if (auto f = failure(lost_memory(harness_.worker().state().resident_bytes - before, times))) return f;
  const Check& check = judge_.known[0];
  draw_ = check.draw;
  harness_.draw(0, draw_);
  harness_.worker().run(0, 1, 1, judge_.deadline());
  if (harness_.outputs_hash(0) == known_hashes_[0]) return std::nullopt;
  if (auto f = judge_slot(0, check, "stale")) return f;
  return failure(Outcome::kWrong, "nondeterministic", fmt::format("after {} the same inputs gave other bits", counted(times, "call")));
}

std::optional<Failure> Validation::failure(const std::optional<Misconduct>& found) const {
  if (!found) return std::nullopt;
  return failure(Outcome::kMistrusted, found->code, found->reason);
}

std::optional<Failure> Validation::conduct() {
  stage_ = "conduct";
  const Report report = harness_.worker().report(judge_.deadline());
  return failure(misconduct(report, harness_.worker().state(), judge_.honest));
}

}  // namespace amdahl
