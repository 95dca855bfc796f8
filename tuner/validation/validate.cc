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

bool has_specials(const Draw& draw) {
  return draw.distribution == Distribution::kSpecial || draw.distribution == Distribution::kLimits || draw.weights == Weights::kSpecial;
}

Draw scaled(Draw draw) {
  draw.scale = kScale;
  return draw;
}

}  // namespace

double ValidationSpec::deadline(int calls) const { return std::clamp(100 * call_seconds, 3.0, 60.0) + 10 * call_seconds * (calls - 1); }

Failure failure_of(const WorkerExit& death, const std::string& stage, uint64_t seed) {
  switch (death.kind) {
    case WorkerExit::Kind::kSignal: return {Outcome::kCrashed, "crashed", stage, death.reason, seed};
    case WorkerExit::Kind::kOutOfBounds: return {Outcome::kCrashed, "out-of-bounds", stage, death.reason, seed};
    case WorkerExit::Kind::kReadOnly: return {Outcome::kCrashed, "wrote-read-only", stage, death.reason, seed};
    case WorkerExit::Kind::kMemory: return {Outcome::kCrashed, "memory-limit", stage, death.reason, seed};
    case WorkerExit::Kind::kExit: return {Outcome::kCrashed, "exited", stage, death.reason, seed};
    case WorkerExit::Kind::kTimeout: return {Outcome::kTimedOut, "timeout", stage, death.reason, seed};
    case WorkerExit::Kind::kForbidden: return {Outcome::kMistrusted, "forbidden-call", stage, death.reason, seed};
    case WorkerExit::Kind::kGarbage: return {Outcome::kMistrusted, "forged-reply", stage, death.reason, seed};
    case WorkerExit::Kind::kStillWorking: return {Outcome::kMistrusted, "still-working", stage, death.reason, seed};
    case WorkerExit::Kind::kKilled: return {Outcome::kCrashed, "killed", stage, death.reason, seed};
  }
  return {Outcome::kCrashed, "crashed", stage, death.reason, seed};
}

ExitCode exit_code(const Failure& of_judged_plan, ExitCode otherwise) {
  return of_judged_plan.code == "killed" || of_judged_plan.code == "memory-limit" ? ExitCode::kIo : otherwise;
}

namespace {

constexpr size_t kUnseen = 3;          // draws that a candidate alone is asked
constexpr int kTwins = 8;              // slots, which two instances take in turn
constexpr double kTwinsPatience = 10;  // seconds: two teams on the same processors wait for one another's time slices

// A program that uses an exported kernel may have given OpenMP other teams, or call from inside a parallel region, where a team has one thread.
std::vector<Trial> odd_teams(int asked) { return {{.team = 1}, {.team = asked + 1}, {.nested = true}}; }

void bind_two(RemoteProgram& remote, const ValidationSpec& spec) {
  remote.bind(Layout::kModel, kTwins, 1, spec.checks[0].draw, spec.deadline(), /*twin=*/true);
}

// Finds what a judge needs to know by trying the starter.
class SpecMaker {
 public:
  SpecMaker(ValidationSpec& spec, RemoteProgram& starter, const ExpectedOf& expected) : spec_(spec), starter_(starter), expected_(expected) {}

  void make(uint64_t seed) {
    spec_.call_seconds = 0.3;  // until measured: 30 s
    Random seeds(seed ^ hash64(spec_.signature));
    const uint64_t weights_seed = seeds.next() >> 1;
    starter_.bind(Layout::kEnd, 1, 1, {Distribution::kNormal, 0, weights_seed}, 30);
    for (Draw draw : draws()) {
      draw.seed = seeds.next() >> 1;
      draw.weights_seed = weights_seed;
      if (draw.has_own_weights()) starter_.change_weights(draw, spec_.deadline());
      take(draw);
    }
    starter_.change_weights({Distribution::kNormal, 0, weights_seed}, spec_.deadline());
    conclude();
    if (spec_.unusable.empty()) spec_.honest = state_after_trials();  // which begin with the first check
  }

 private:
  // Those with weights of their own come last. An output of millions of elements sees many draws in one trial, and its
  // oracle takes seconds a draw: there one draw has both inputs and weights that reach far.
  std::vector<Draw> draws() const {
    const bool is_large = output_bytes(starter_.program()) > (size_t{8} << 20);
    std::vector<Draw> all;
    for (Distribution distribution : families(is_large)) all.push_back({distribution});
    if (!is_large) {
      for (Distribution distribution : {Distribution::kSpecial, Distribution::kLimits}) add_turns({distribution}, turns_of(Program::Role::kInput), all);
      all.insert(all.end(), {{Distribution::kExponents}, {Distribution::kWide}});
    }
    for (bool roles_swapped : {false, true}) {
      all.push_back({Distribution::kInteger});
      all.back().ternary = true;
      all.back().roles_swapped = roles_swapped;
    }
    const int weights = turns_of(Program::Role::kConstant);
    if (weights == 0) return all;
    for (const auto& [distribution, weights_drawn] : pairs(is_large)) {
      Draw draw{distribution};
      draw.weights = weights_drawn;
      add_turns(draw, weights_drawn == Weights::kSpecial ? weights : 1, all);
    }
    return all;
  }

  // Of the starter's worker, after all that candidates go through.
  ProcessState state_after_trials() {
    WorkerProcess& worker = starter_.worker();
    for (const Trial& trial : odd_teams(starter_.program().threads)) worker.trial(trial, spec_.deadline());
    if (!spec_.too_large_for_two) {
      bind_two(starter_, spec_);
      worker.run_both(1, spec_.deadline(kTwins));
    }
    worker.run(0, 1, 1, spec_.deadline());
    return worker.state();
  }

  std::vector<Distribution> families(bool is_large) const {
    if (is_large) return {Distribution::kNormal, Distribution::kHeavyTail, Distribution::kNeedle, Distribution::kSpecial, Distribution::kExponents};
    return {Distribution::kNormal, Distribution::kUniform,   Distribution::kOffset, Distribution::kLarge, Distribution::kHeavyTail,
            Distribution::kEqual,  Distribution::kAlternate, Distribution::kPowers, Distribution::kNeedle};
  }

  // Needles let single weights be seen: tiny ones are not beside huge ones there. Infinity times a weight of zero is NaN. Denormal weights need inputs that lift their products to what can be judged.
  static std::vector<std::pair<Distribution, Weights>> pairs(bool is_large) {
    if (is_large) return {{Distribution::kNeedle, Weights::kWide}};
    return {{Distribution::kNeedle, Weights::kWide},
            {Distribution::kSpecial, Weights::kSparse},
            {Distribution::kNormal, Weights::kConstant},
            {Distribution::kPowers, Weights::kDenormal},
            {Distribution::kNormal, Weights::kSpecial}};
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

  void leave_out(const Draw& draw, bool starter_is_wrong, std::string reason) { spec_.left_out.push_back({draw, starter_is_wrong, std::move(reason)}); }

  std::optional<Check> tried(const Draw& draw, Discrepancy* d) {
    const auto want = expected_(draw);
    if (want->judged < 0.5) leave_out(draw, false, fmt::format("the oracle bounds {:.0f}% of its outputs", 100 * want->judged));
    else if (draw.ternary && !want->exact) leave_out(draw, false, "its outputs are no integers below 2^24");
    if (want->judged < 0.5 || (draw.ternary && !want->exact)) return std::nullopt;
    starter_.draw(0, draw);
    starter_.poison_outputs(0, draw.seed);
    spec_.call_seconds = starter_.worker().run(0, 1, 1, spec_.deadline()).seconds;
    *d = compare(*want, starter_.program(), starter_.outputs(0));
    if (d->within && !draw.has_own_weights()) spread_[draw.distribution] = {d->max_bound, 1 - want->judged};
    const bool plain = (draw.distribution == Distribution::kNormal || draw.distribution == Distribution::kUniform) && !draw.has_own_weights();
    if (!d->within) {
      leave_out(draw, true, d->message);
      if (plain && refused_.empty()) refused_ = fmt::format("on {} inputs {}", name_of(draw.distribution), d->message);
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
    if (const auto check = tried(draw, &d)) spec_.checks.push_back(*check);
  }

  void conclude() {
    const bool starts_plain =
        !spec_.checks.empty() && (spec_.checks[0].draw.distribution == Distribution::kNormal || spec_.checks[0].draw.distribution == Distribution::kUniform);
    if (!starts_plain) spec_.unusable = refused_.empty() ? "the oracle bounds under half of its outputs" : "the starter itself is wrong: " + refused_;
    else if (!substance_) spec_.unusable = "its expected outputs are nearly all zero: they would prove nothing";
    if (!spec_.unusable.empty()) return;
    const Draw first = spec_.checks[0].draw;
    Draw perturbed = first, other = first;
    perturbed.perturbed = true;
    other.seed ^= 0x5eed;
    Spread spread;
    for (const Draw& draw : {other, perturbed, first}) {
      Discrepancy d;
      if (const auto check = tried(draw, &d)) {
        spec_.canaries.push_back(*check);
        spread.largest_bound = std::max(spread.largest_bound, d.max_bound);
        spread.share_open = std::max(spread.share_open, spread_.at(draw.distribution).share_open);
      }
    }
    if (spec_.canaries.empty()) {
      spec_.unusable = "the starter leaves its bounds on other numbers of the same kind: " + refused_;
      return;
    }
    spec_.timed = timed_numbers(first.distribution, spread);
    const std::vector<std::byte> whole = starter_.outputs(0);
    starter_.draw(0, scaled(first));
    starter_.worker().run(0, 1, 1, spec_.deadline());
    spec_.homogeneous = scales(starter_.program(), whole, starter_.outputs(0));
  }

  // How far honest programs may differ on the outputs of a draw.
  struct Spread {
    double largest_bound = 0, share_open = 0;
  };

  // `first`: on numbers of the first distribution. Each of two programs may be off by its bound; those of other draws may be twice as large.
  std::vector<TimedNumbers> timed_numbers(Distribution distribution, const Spread& first) const {
    const auto numbers = [](Distribution drawn, const Spread& s) { return TimedNumbers{drawn, 4 * s.largest_bound, s.share_open}; };
    const auto is_asked = [&](Distribution other) { return other != distribution && spread_.count(other) > 0; };
    std::vector<TimedNumbers> timed{numbers(distribution, first)};
    // Uniform numbers are smaller than normal ones, which large outputs are asked instead.
    if (distribution == Distribution::kNormal)
      timed.push_back(numbers(Distribution::kUniform, is_asked(Distribution::kUniform) ? spread_.at(Distribution::kUniform) : first));
    if (is_asked(Distribution::kNeedle)) timed.push_back(numbers(Distribution::kNeedle, spread_.at(Distribution::kNeedle)));
    return timed;
  }

  ValidationSpec& spec_;
  RemoteProgram& starter_;
  const ExpectedOf& expected_;
  std::map<Distribution, Spread> spread_;  // by what inputs are drawn as, of the draws with usual weights that the starter passes
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

ValidationSpec make_validation_spec(const std::string& signature, std::vector<InputRange> ranges, const Work& work, RemoteProgram& starter, uint64_t seed,
                                    const ExpectedOf& expected) {
  ValidationSpec spec;
  spec.endurance_calls = endurance_calls(work);
  spec.dear = is_dear(work);
  spec.too_large_for_two = too_large_for_two(starter.program());
  spec.signature = signature;
  spec.ranges = std::move(ranges);
  SpecMaker(spec, starter, expected).make(seed);
  return spec;
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
                  &Validation::rows, &Validation::one_element_apart, &Validation::endurance, &Validation::conduct});
}

// A trial of `check` in slot 0, judged. `code`: what a value outside its bound means here.
std::optional<Failure> Validation::try_check(const Check& check, const char* code, Trial conditions) {
  draw_ = check.draw;
  remote_.draw(0, draw_);
  conditions.seed = secret_.next() >> 1;
  remote_.poison_outputs(0, conditions.seed);
  if (std::string what = remote_.trial(conditions, spec_.deadline()); !what.empty()) return failure(Outcome::kMistrusted, "wrote-late", what);
  if (std::string what = remote_.unwritten(0, conditions.seed); !what.empty()) return failure(Outcome::kWrong, "unwritten", what);
  return judge_slot(0, check, code);
}

std::optional<Failure> Validation::judge_slot(size_t slot, const Check& check, const char* code) {
  if (!remote_.slack_intact(slot)) return failure(Outcome::kMistrusted, "wrote-beside", "wrote beside an output");
  const Discrepancy d = compare(*expected_(check.draw), remote_.program(), remote_.outputs(slot));
  const std::string weights = check.draw.weights == Weights::kNormal ? "" : fmt::format(" and {} weights", name_of(check.draw.weights));
  const std::string on = fmt::format("on {} inputs{}: ", name_of(check.draw.distribution), weights);
  if (!d.within) return failure(Outcome::kWrong, d.sign_of_zero ? "special-values" : code, on + d.message);
  // A narrower type must be exact on integers that it holds. An algorithm of other constants need not be: a third has no end.
  const bool must_be_exact = check.draw.ternary && !(declared_.products == ProductArithmetic{});
  if (check.draw.once) return std::nullopt;  // the starter was not asked
  // An algorithm that is declared rounds relative to the largest numbers near by: beside huge ones its error on small ones is no measure of it.
  if (!(declared_ == ErrorConstant{}) && reaches_far(check.draw)) return std::nullopt;
  // One number throughout is one error throughout: the starter's may be none by luck (a mean of 48 equal numbers came out exact, its variance zero, and its
  // normalised row with them).
  if (check.draw.distribution == Distribution::kEqual) return std::nullopt;
  if (const auto what = beyond_ratchet(check.starter_rms_error, check.starter_max_error, must_be_exact ? 2 : declared_.ratchet, d))
    return failure(Outcome::kWrong, "less-precise", on + *what);
  return std::nullopt;
}

std::optional<Failure> Validation::first_trial() {
  stage_ = "smoke";
  remote_.bind(Layout::kEnd, 1, 1, spec_.checks[0].draw, spec_.deadline());
  if (auto f = try_check(spec_.checks[0], "wrong-value")) return f;
  first_outputs_ = remote_.outputs(0);
  return std::nullopt;
}

// The same again, also with all threads on one CPU, where they meet in other orders.
std::optional<Failure> Validation::repeats() {
  stage_ = "determinism";
  remote_.bind(Layout::kEnd, 1, 1, spec_.checks[0].draw, spec_.deadline());
  for (bool pinned : {false, true, false}) {
    remote_.worker().pin_to_one_cpu(pinned);
    auto failed = try_check(spec_.checks[0], "nondeterministic");
    remote_.worker().pin_to_one_cpu(false);
    if (failed) return failed;
    if (!remote_.outputs_equal(0, first_outputs_))
      return failure(Outcome::kWrong, "nondeterministic", "the same inputs gave other bits: a race or an uninitialised value");
  }
  return std::nullopt;
}

std::optional<Failure> Validation::numerics() {
  stage_ = "numerics";
  // First, while the last contents at these addresses were the same but for one element of each input.
  for (const Check& check : spec_.canaries)
    if (check.draw.perturbed)
      if (auto f = try_check(check, "stale")) return f;
  if (spec_.homogeneous) {
    draw_ = scaled(spec_.checks[0].draw);
    remote_.draw(0, draw_);
    remote_.worker().run(0, 1, 1, spec_.deadline());
    if (!scales(remote_.program(), first_outputs_, remote_.outputs(0)))
      return failure(Outcome::kWrong, "not-homogeneous", fmt::format("inputs times 2^{} do not give outputs times 2^{}, as the starter's do", kScale, kScale));
  }
  for (size_t i = 1; i < spec_.checks.size(); ++i) {
    Check check = spec_.checks[i];
    // Where bounds are wide, every bit of the weights is asked for too; those of fp32 show a weight of half precision.
    if (check.draw.roles_swapped && declared_.products.rounding == 0) continue;
    // An algorithm that is declared is bounded near numbers of one size; where sums of blocks overflow, its bound does not say so yet: of the specials it is
    // asked those that overflow nothing.
    if (!(declared_ == ErrorConstant{}) && reaches_far(check.draw)) {
      // In halves of bfloat16 an infinity reaches the whole block, which the bound does not follow since it counts infinities as large numbers.
      const bool bf16_halves = declared_.products.strassen > 0 && declared_.products.rounding > 0;
      if (check.draw.distribution != Distribution::kSpecial || check.draw.has_own_weights() || check.draw.turn > 0 || bf16_halves) continue;
      check.draw.turn = Draw::kNear;
    }
    // Outputs of one tile round relative to its largest tap, and at the border of an image that tap meets none of them; fractions of denormal taps lose bits.
    if (declared_.halo > 0 && (check.draw.weights == Weights::kWide || check.draw.weights == Weights::kDenormal)) continue;
    if (check.draw.ternary) check.draw.integer_bits = exact_bits(declared_.products);
    // The same addresses hold other weights now.
    if (check.draw.has_own_weights()) remote_.change_weights(check.draw, spec_.deadline());
    const char* code = check.draw.ternary ? "inexact" : has_specials(check.draw) ? "special-values" : "wrong-value";
    if (auto f = try_check(check, code)) return f;
  }
  return std::nullopt;
}

// Numbers that no other candidate was or will be asked: whoever saw how another one ended knows nothing of them.
std::optional<Failure> Validation::unseen() {
  stage_ = "numerics";
  remote_.change_weights(spec_.checks[0].draw, spec_.deadline());
  std::vector<Check> asked;
  for (const Check& known : spec_.checks)
    if (!known.draw.has_own_weights() && (declared_ == ErrorConstant{} || !reaches_far(known.draw))) asked.push_back(known);
  // Each takes an oracle of its own. Numbers as in the first check, and of others whose turn nobody can know.
  const size_t count = std::min<size_t>(asked.size(), spec_.dear ? 1 : kUnseen);
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
  for (const Trial& team : odd_teams(remote_.program().threads))
    if (auto f = try_check(spec_.checks[0], "wrong-value", team)) return f;
  return std::nullopt;
}

std::optional<Failure> Validation::shapes() {
  stage_ = "shapes";
  for (Layout layout : {Layout::kShift, Layout::kStart}) {
    remote_.bind(layout, 1, 1, spec_.checks[0].draw, spec_.deadline());
    if (auto f = try_check(spec_.checks[0], "wrong-value")) return f;
  }
  return std::nullopt;
}

// As bound for timing, several calls in a row on the same numbers at other addresses: the same bits every time.
std::optional<Failure> Validation::rows() {
  stage_ = "determinism";
  remote_.bind(Layout::kModel, timed_.slots, timed_.copies, spec_.checks[0].draw, spec_.deadline());
  const size_t row = std::min<size_t>(remote_.slots(), 8);
  for (const Check& check : spec_.canaries) {
    draw_ = check.draw;
    for (size_t slot = 0; slot < row; ++slot) {
      remote_.draw(slot, draw_);
      remote_.poison_outputs(slot, draw_.seed + slot);
    }
    remote_.worker().run(0, static_cast<int>(row), 1, spec_.deadline(static_cast<int>(row)));
    if (auto f = judge_slot(0, check, "wrong-value")) return f;
    canary_hashes_.push_back(remote_.outputs_hash(0));
    for (size_t slot = 1; slot < row; ++slot)
      if (remote_.outputs_hash(slot) != canary_hashes_.back())
        return failure(Outcome::kWrong, "nondeterministic", fmt::format("call {} on the same inputs gave other bits", slot + 1));
  }
  return std::nullopt;
}

// Two calls whose numbers differ by one element, which nobody knows, with nothing written to the workspace between them: what recognises its inputs by some of
// them hands out the first one's results. Who looks at every 16th element has it among them once in sixteen.
std::optional<Failure> Validation::one_element_apart() {
  const auto known = std::find_if(spec_.canaries.begin(), spec_.canaries.end(), [](const Check& c) { return c.draw.perturbed; });
  if (known == spec_.canaries.end()) return std::nullopt;
  for (size_t i = 0; i < (spec_.dear ? 1 : kUnseen); ++i) {
    Check check = *known;
    check.draw.seed = secret_.next() >> 1;
    check.draw.once = true;
    Draw before = check.draw;
    before.perturbed = false;
    draw_ = check.draw;
    remote_.draw(0, before);
    remote_.worker().run(0, 1, 1, spec_.deadline());
    remote_.draw(0, draw_);
    remote_.poison_outputs(0, draw_.seed);
    remote_.worker().run(0, 1, 1, spec_.deadline());
    if (auto f = judge_slot(0, check, "stale")) return f;
  }
  return std::nullopt;
}

// Two instances of the model in one program, at work at once on other numbers: what a kernel keeps outside its workspace is found by the other.
std::optional<Failure> Validation::two_at_once() {
  if (spec_.too_large_for_two) return std::nullopt;
  stage_ = "determinism";
  bind_two(remote_, spec_);
  const Check* of[2] = {&spec_.canaries.front(), &spec_.canaries.back()};
  for (size_t slot = 0; slot < kTwins; ++slot) {
    remote_.draw(slot, of[slot % 2]->draw);
    remote_.poison_outputs(slot, secret_.next() >> 1);
  }
  const int times = std::clamp(spec_.endurance_calls / 16, 1, 256);
  const bool same = remote_.worker().run_both(times, kTwinsPatience + spec_.deadline(times * kTwins));
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
  const int times = spec_.endurance_calls;
  const double deadline = spec_.deadline(times);
  // The first row pays for what is allocated once.
  remote_.worker().run(0, 1, 8, deadline);
  const int64_t before = remote_.worker().state().resident_bytes;
  remote_.worker().run(0, 1, times, deadline);
  if (auto f = failure(lost_memory(remote_.worker().state().resident_bytes - before, times))) return f;
  const Check& check = spec_.canaries[0];
  draw_ = check.draw;
  remote_.draw(0, draw_);
  remote_.worker().run(0, 1, 1, spec_.deadline());
  if (remote_.outputs_hash(0) == canary_hashes_[0]) return std::nullopt;
  if (auto f = judge_slot(0, check, "stale")) return f;
  return failure(Outcome::kWrong, "nondeterministic", fmt::format("after {} the same inputs gave other bits", counted(times, "call")));
}

std::optional<Failure> Validation::failure(const std::optional<Misconduct>& found) const {
  if (!found) return std::nullopt;
  return failure(Outcome::kMistrusted, found->code, found->reason);
}

std::optional<Failure> Validation::conduct() {
  stage_ = "conduct";
  const Report report = remote_.worker().report(spec_.deadline());
  return failure(misconduct(report, remote_.worker().state(), spec_.honest));
}

}  // namespace amdahl
