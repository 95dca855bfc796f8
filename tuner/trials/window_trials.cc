#include "tuner/trials/window_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/machine.h"
#include "base/statistics.h"
#include "profiler/profile.h"
#include "tuner/measurement/decision.h"
#include "tuner/trials/despite_kills.h"
#include "tuner/validation/conduct.h"
#include "tuner/validation/input_ranges.h"

namespace amdahl {
namespace {

// The window in row-major form: what starter steps read and write.
WindowIo plain(WindowIo io) {
  for (auto* operands : {&io.inputs, &io.outputs}) {
    std::vector<Operand> distinct;
    for (Operand o : *operands) {
      o.format.clear();
      if (std::find(distinct.begin(), distinct.end(), o) == distinct.end()) distinct.push_back(o);
    }
    *operands = distinct;
  }
  return io;
}

Work work_of(const std::vector<Step>& steps) {
  Work sum;
  for (const Step& s : steps) {
    const Work work = kernel_kind(s.variant.problem.kind).work(s.variant.problem);
    sum.flops += work.flops;
    sum.bytes += work.bytes;
  }
  return sum;
}

// Windows of one signature compute the same, but weights are drawn with the mean and deviation of each window's own: what
// is expected of one place is not expected of another.
std::string weights_id(const Program& program) {
  std::set<std::string> weights;
  for (const Program::Buffer& b : program.buffers)
    if (b.role == Program::Role::kConstant && b.blob_offset < 0) weights.insert(fmt::format("{} {} {}", b.source, b.mean, b.deviation));
  std::string text;
  for (const std::string& w : weights) text += w + ";";
  return hash_hex(text);
}

// Candidates are bound with as many slots as a segment has calls, and at least as many as there are copies of the weights.
TimedBinding timed_binding(const Program& program, const Segments& segments, size_t run_bytes) {
  TimedBinding t;
  t.copies = copies_for(program, run_bytes);
  t.slots = std::max({segments.calls, t.copies, 3});
  return t;
}

}  // namespace

WindowTrials::WindowTrials(const Graph& graph, Builder& builder, const TrialOptions& options)
    : graph_(graph),
      builder_(builder),
      options_(options),
      starter_(starter_plan(graph, options.worker.threads, builder.target())),
      secrets_(options.draws_seed ? *options.draws_seed : entropy()),
      timing_secrets_(options.draws_seed ? ~*options.draws_seed : entropy()),
      run_bytes_(static_cast<size_t>(bytes_of_run(graph, starter_))),
      constants_(graph),
      cache_(options.reference_bytes, std::min(options.window_reference_bytes, static_cast<size_t>(this_machine().memory_bytes) / 8)) {}

Program WindowTrials::program_of(const WindowIo& io, const std::vector<Step>& steps, const std::vector<std::string>& libraries, int threads) {
  Blob blob;
  Program program = window_program(graph_, io, steps, libraries, threads, &blob);
  constants_.adopt(program, blob);
  return program;
}

ExpectedOf WindowTrials::expected_of(const WindowIo& io, const Program& program, const std::string& signature, const ErrorConstant& constant) {
  return [this, &io, &program, constant, key = signature + weights_id(program)](const Draw& draw) {
    // Integers (that the narrower type holds) are exact there too.
    const ProductArithmetic products = draw.ternary ? ProductArithmetic{} : constant.products;
    const auto reference = [&](const Draw& d) {
      const auto make = [&] { return expected_outputs(graph_, io, program, d, input_ranges(graph_, distinct_inputs(io)), products, given_); };
      if (d.once) return std::make_shared<const Expected>(make());
      return cache_.get(key, products, d, make);
    };
    const auto plain = reference(draw);
    if (constant.factor == 1 && constant.halo == 0 && products.strassen == 0) return plain;
    std::shared_ptr<const Expected> nonfinite;
    if (reaches_limits(draw) && (constant.halo > 0 || products.strassen > 0)) {
      Draw without_infinities = draw;
      without_infinities.infinities_as_nan = true;
      nonfinite = reference(without_infinities);
    }
    return std::make_shared<const Expected>(with_halo(*plain, constant, nonfinite.get()));
  };
}

const ValidationSpec& WindowTrials::spec_for(const WindowTask& task, const Program& incumbent) {
  const std::string key = task.signature + weights_id(incumbent);
  const auto known = specs_.find(key);
  if (known != specs_.end()) return known->second;
  ValidationSpec spec;
  spec.signature = task.signature;
  try {
    const WindowIo io = plain(task.io);
    const std::set<NodeId> nodes(io.nodes.begin(), io.nodes.end());
    std::vector<Step> steps;
    for (const Step& s : starter_.steps)
      if (!s.nodes.empty() && std::all_of(s.nodes.begin(), s.nodes.end(), [&](NodeId n) { return nodes.count(n) > 0; })) steps.push_back(s);
    const BuildResult built = builder_.build({steps})[0];
    if (!built.ok) throw WorkerRefused("the starter does not compile: " + built.message);
    const Program starter = program_of(io, steps, built.libraries, task.threads);
    const std::vector<InputRange> ranges = input_ranges(graph_, distinct_inputs(io));
    const Work work = work_of(steps);
    spec = despite_kills([&] {
      InputSource input_source(ranges, options_.worker.backend->make_arena("amdahl-inputs"));
      RemoteProgram remote(options_.worker, starter, input_source, constants_);
      // A value that the window writes in two formats is one output of the starter: other references than the challengers'.
      return make_validation_spec(task.signature, ranges, work, remote, secrets_.next() >> 1,
                                  expected_of(io, starter, task.signature + (io.outputs == task.io.outputs ? "" : " plain")));
    });
  } catch (const WorkerDied& died) {
    spec.unusable = "the starter died: " + died.death.reason;
  } catch (const WorkerRefused& refused) {
    spec.unusable = refused.what();
  }
  return specs_[key] = spec;
}

std::string WindowTrials::enter(const WindowTask& task) {
  at_ = {};
  at_.task = task;
  const BuildResult built = builder_.build({task.incumbent})[0];
  if (!built.ok) return "the incumbent does not compile: " + built.message;
  at_.incumbent = program_of(at_.task.io, task.incumbent, built.libraries, task.threads);
  at_.spec = &spec_for(task, at_.incumbent);
  if (!at_.spec->unusable.empty()) return at_.spec->unusable;
  at_.input_source = std::make_unique<InputSource>(at_.spec->ranges, options_.worker.backend->make_arena("amdahl-inputs"));
  at_.own_tolerance = at_.tolerance = tolerance_of(at_.incumbent, task.incumbent);
  try {
    // Its speed, before the slots of a segment are known.
    at_.timed.copies = copies_for(at_.incumbent, run_bytes_);
    at_.timed.slots = std::max(3, at_.timed.copies);
    restart_racer();
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back(at_.racer->worker().run_awake(i % at_.timed.slots, 1, 1, at_.spec->deadline()).seconds);
    const double handover = at_.racer->worker().handover(at_.spec->deadline());
    at_.incumbent_seconds = std::max(median(seconds) - handover, 1e-6);
    at_.timed = timed_binding(at_.incumbent, segments(options_.pair_seconds, 2), run_bytes_);
    restart_racer();
    at_.incumbent_hashes = judged_hashes(*at_.racer, at_.incumbent, task.incumbent);
  } catch (const WorkerDied& died) {
    return "the incumbent died: " + died.death.reason;
  } catch (const WorkerRefused& refused) {
    return refused.what();
  }
  return "";
}

// What two honest programs may differ by on numbers drawn as in the first check; a declared rounding widens it.
double WindowTrials::tolerance_of(const Program& program, const std::vector<Step>& steps) {
  const ErrorConstant constant = declared_constant(steps);
  const double undeclared = at_.spec->timed[0].tolerance;
  if (constant.products == ProductArithmetic{}) return undeclared;
  for (const auto& [known, tolerance] : at_.tolerances)
    if (known == constant) return tolerance;
  const ExpectedOf expected = expected_of(at_.task.io, program, at_.task.signature, constant);
  double bound = 0;
  for (const Check& check : at_.spec->canaries) {
    const std::shared_ptr<const Expected> known = expected(check.draw);
    for (const ExpectedOutput& o : known->outputs)
      std::visit(
          [&](const auto& f) {
            for (const double b : f.bound)
              if (std::isfinite(b)) bound = std::max(bound, b);
          },
          o.floats);
  }
  return at_.tolerances.emplace_back(constant, std::max(undeclared, 4 * bound)).second;
}

bool WindowTrials::is_within(RemoteProgram& arm, size_t slot, const std::vector<Tensor>& inputs, const ErrorConstant& declared) {
  const RefValues& given = given_.of(at_.task.io, arm.program(), at_.spec->checks[0].draw, inputs);
  const Expected expected = with_halo(expected_outputs(graph_, at_.task.io, given, declared.products), declared);
  return compare(expected, arm.program(), arm.outputs(slot)).within;
}

Referee WindowTrials::referee(const ErrorConstant& incumbent, const ErrorConstant& challenger) {
  return [this, incumbent, challenger](RemoteProgram& left, RemoteProgram& right, size_t slot) {
    const std::vector<Tensor> inputs = left.inputs(slot);
    if (!is_within(right, slot, inputs, challenger)) return AtFault::kChallenger;
    return is_within(left, slot, inputs, incumbent) ? AtFault::kNobody : AtFault::kIncumbent;
  };
}

// Of turn `turn` of ValidationSpec::timed. The canaries are of the first: among others they would be seen.
Contents WindowTrials::contents(size_t turn) const {
  const TimedNumbers &first = at_.spec->timed[0], &numbers = at_.spec->timed[turn];
  Contents c;
  c.distribution = numbers.distribution;
  if (turn == 0)
    for (const Check& check : at_.spec->canaries) c.canaries.push_back(check.draw);
  c.share_allowed += 2 * numbers.share_open;  // another draw may have more of them
  // What is declared widens all alike.
  c.tolerance = first.tolerance > 0 ? at_.tolerance / first.tolerance * numbers.tolerance : std::max(at_.tolerance, numbers.tolerance);
  return c;
}

Segments WindowTrials::segments(double budget_seconds, int fewest_blocks) const {
  return plan_segments(at_.incumbent_seconds, budget_seconds, operand_bytes(at_.incumbent), operand_budget(builder_.target().device), fewest_blocks,
                       segment_limits(*options_.worker.backend));
}

PairSettings WindowTrials::settings(size_t turn) const {
  PairSettings d;
  d.worker = options_.worker;
  d.input_source = at_.input_source.get();
  d.constants = &constants_;
  d.segments = segments(options_.pair_seconds, 2);
  d.slots = at_.timed.slots;
  d.copies = at_.timed.copies;
  d.weights = at_.spec->checks[0].draw;
  d.contents = contents(turn);
  d.call_seconds = at_.spec->deadline(at_.timed.slots);
  return d;
}

// A pacer is a candidate, judged but not proven: when it does not even start, it gives way to the incumbent.
void WindowTrials::restart_racer() {
  const auto start = [&](const Program& program) {
    despite_kills([&] {
      Random random(timing_secrets_.next());
      at_.racer.reset();
      at_.racer = start_arm(program, settings(), random);
    });
  };
  if (at_.pacer) {
    try {
      return start(at_.pacer->program);
    } catch (const WorkerDied&) {
    } catch (const WorkerRefused&) {
    }
    at_.pacer.reset();
  }
  start(at_.incumbent);
}

bool WindowTrials::pace(const std::vector<Step>& form, const BuildResult& built) {
  const auto judged = at_.canary_hashes.find(built.code);
  if (judged == at_.canary_hashes.end()) return false;  // dropped after its first heat
  const Program program = program_of(at_.task.io, form, built.libraries, at_.task.threads);
  std::optional<Pacer> before = std::exchange(at_.pacer, Pacer{program, judged->second, tolerance_of(program, form), declared_constant(form)});
  restart_racer();
  if (at_.pacer) return true;
  at_.pacer = std::move(before);
  at_.racer.reset();  // the next challenger starts it
  return false;
}

// Outputs of the canaries as bound for timing. Empty when the oracle does not confirm them.
std::vector<std::string> WindowTrials::judged_hashes(RemoteProgram& remote, const Program& program, const std::vector<Step>& steps) {
  const ExpectedOf expected = expected_of(at_.task.io, program, at_.task.signature, declared_constant(steps));
  std::vector<std::string> hashes;
  for (const Check& check : at_.spec->canaries) {
    remote.draw(0, check.draw);
    remote.worker().run(0, 1, 1, at_.spec->deadline());
    if (!compare(*expected(check.draw), program, remote.outputs(0)).within) return {};
    hashes.push_back(remote.outputs_hash(0));
  }
  return hashes;
}

Timing WindowTrials::race(RemoteProgram& challenger, const ErrorConstant& declared, std::vector<std::string> hashes, double budget_seconds,
                          std::optional<Failure>* failure) {
  Random random(timing_secrets_.next());
  LivingArm pacer{at_.racer.get(), at_.pacer ? at_.pacer->hashes : at_.incumbent_hashes}, other{&challenger, std::move(hashes)};
  std::optional<Disqualification> disqualified;
  Contents read = contents();
  read.referee = referee(at_.pacer ? at_.pacer->declared : declared_constant(at_.task.incumbent), declared);
  const Timing t = alternate(pacer, other, segments(budget_seconds, /*fewest_blocks=*/2), read, at_.task.threads, at_.spec->deadline(at_.timed.slots), random,
                             &disqualified);
  if (disqualified) *failure = failure_of(disqualified, "race", at_.spec->checks[0].draw.seed);
  return t;
}

ScreenResult WindowTrials::screen(const std::vector<Step>& challenger, const BuildResult& built, double bar) {
  const bool paced = at_.pacer.has_value();
  ScreenResult s;
  for (int tries = 1; tries <= kTriesDespiteKills; ++tries) {
    s = screen_once(challenger, built, bar);
    if (!s.failure || s.failure->code != "killed") break;
  }
  if (at_.pacer && s.failure && s.failure->stage == "race") s = screen_beside_incumbent(challenger, built, bar, s);
  s.pace_lost = paced && !at_.pacer;
  return s;
}

// Two arms disagreed, or one died, and the pacer is a candidate itself: who fails beside the incumbent is to blame.
ScreenResult WindowTrials::screen_beside_incumbent(const std::vector<Step>& challenger, const BuildResult& built, double bar,
                                                   const ScreenResult& beside_pacer) {
  std::optional<Pacer> pacer = std::exchange(at_.pacer, std::nullopt);
  at_.racer.reset();
  const ScreenResult s = screen_once(challenger, built, bar);
  if (!s.failure) return s;
  at_.pacer = std::move(pacer);
  at_.racer.reset();
  return beside_pacer;
}

ScreenResult WindowTrials::screen_once(const std::vector<Step>& challenger, const BuildResult& built, double bar) {
  ScreenResult result;
  const ValidationSpec& spec = *at_.spec;
  const uint64_t seed = spec.checks[0].draw.seed;
  const Program program = program_of(at_.task.io, challenger, built.libraries, at_.task.threads);
  const ErrorConstant declared = declared_constant(challenger);
  const ExpectedOf expected = expected_of(at_.task.io, program, at_.task.signature, declared);
  at_.tolerance = std::max({at_.own_tolerance, at_.pacer ? at_.pacer->tolerance : 0, tolerance_of(program, challenger)});
  auto start = Clock::now();
  const auto lap = [&](double* seconds) {
    *seconds += since(start);
    start = Clock::now();
  };
  at_.pairs_of_proof.end();
  if (!at_.racer) restart_racer();
  bool timed = false;
  try {
    RemoteProgram remote(options_.worker, program, *at_.input_source, constants_);
    Validation validation(remote, spec, at_.timed, expected, declared, secrets_.next());
    result.failure = validation.smoke();
    lap(&result.validate_seconds);
    if (result.failure) return result;

    // A clear loser does not deserve the other stages: most candidates end here.
    timed = true;
    remote.bind(Layout::kModel, at_.timed.slots, at_.timed.copies, spec.checks[0].draw, spec.deadline());
    for (int i = 0; i < 2; ++i) remote.worker().run(0, 1, 1, spec.deadline());  // first touch of the workspace, threads
    result.race = race(remote, declared, {}, options_.race_seconds / 4, &result.failure);
    lap(&result.race_seconds);
    if (result.failure || result.race.log_ratio < bar - options_.loser_margin) return result;
    // Nor does a likely one: what a quarter of a race did not show ahead runs a whole one first. The stages take longer than
    // that where outputs are large (6 to 10 s for gpt2's last product, its races 2 to 5).
    if (result.race.log_ratio < bar) result.race = race(remote, declared, {}, options_.race_seconds, &result.failure);
    lap(&result.race_seconds);
    if (result.failure || result.race.log_ratio < bar - options_.tie_margin) return result;
    timed = false;

    result.failure = validation.rest();
    lap(&result.validate_seconds);
    if (result.failure) return result;

    timed = true;
    at_.canary_hashes[built.code] = validation.canary_hashes();
    for (int races = 0; races < 2 && !result.failure && (races == 0 || result.race.log_ratio > bar); ++races)
      result.race = race(remote, declared, validation.canary_hashes(), options_.race_seconds, &result.failure);
  } catch (const WorkerDied& died) {
    result.failure = failure_of(died.death, timed ? "race" : "smoke", seed);
  } catch (const WorkerRefused& refused) {
    result.failure = Failure{Outcome::kCrashed, "load-failed", timed ? "race" : "smoke", refused.what(), seed};
  }
  if (result.failure && timed) at_.racer.reset();  // whoever died: the next challenger starts it anew
  lap(&result.race_seconds);
  return result;
}

// Gains that are there only when calls come in a row: one call did the work of its neighbours. Looked at after every pair, so
// the evidence is that of a bet (decision.h): a kernel that saves as much one at a time, or nothing at all, is accused once in
// a thousand windows. A fifth is asked for, because a call alone finds colder caches.
std::optional<Failure> WindowTrials::batched_only(const std::string& code, const Timing& t) {
  if (t.single_a == 0) return std::nullopt;
  DecisionRule rule;
  rule.delta = 0;
  const auto [it, is_new] = at_.missing_alone.try_emplace(code, rule);
  const double in_a_row = t.seconds_a - t.seconds_b, alone = t.single_a - t.single_b;
  it->second.add(in_a_row / 5 - alone);
  if (it->second.wealth() < 1000) return std::nullopt;
  return Failure{Outcome::kMistrusted, "batched-only", "prove", fmt::format("saves {:.2f} us a call in a row of calls, but not one at a time", 1e6 * in_a_row),
                 0};
}

Placebos WindowTrials::placebos(const std::vector<Step>& challenger, int first, int count) {
  std::vector<std::vector<BuildResult>> built = builder_.placebos({at_.task.incumbent, challenger}, first, count);
  Placebos p{std::move(built[0]), std::move(built[1]), ""};
  for (const auto* arm : {&p.incumbent, &p.challenger})
    for (const BuildResult& b : *arm)
      if (b.failure_code == kNoLayouts) return {};
      else if (!b.ok && p.message.empty()) p.message = b.message;
  return p;
}

PairTrial WindowTrials::pair(const std::vector<Step>& challenger, const BuildResult& built, const Placebos& placebos, Random& random) {
  PairTrial result;
  result.instances = at_.timed.copies;
  at_.racer.reset();  // its memory and its cores are needed
  const Program program = program_of(at_.task.io, challenger, built.libraries, at_.task.threads);
  at_.tolerance = std::max(at_.own_tolerance, tolerance_of(program, challenger));
  const uint64_t seed = at_.spec->checks[0].draw.seed;
  try {
    std::vector<std::string>& hashes = at_.canary_hashes[built.code];
    if (hashes.empty()) {  // a proof that is taken up after a restart
      Random layout(seed);
      hashes = despite_kills([&] { return judged_hashes(*start_arm(program, settings(), layout), program, challenger); });
      if (hashes.empty()) {
        result.failure = Failure{Outcome::kWrong, "wrong-value", "prove", "outputs as bound for timing leave the oracle's bounds", seed};
        return result;
      }
    }
    // One build of each arm, or both as written.
    const auto placed = [&](const std::vector<Step>& steps, const std::vector<BuildResult>& builds, const Program& as_written) {
      if (builds.empty()) return as_written;
      return program_of(at_.task.io, steps, builds[random.below(builds.size())].libraries, at_.task.threads);
    };
    const size_t turn = at_.pairs++ % at_.spec->timed.size();
    const Program a = placed(at_.task.incumbent, placebos.incumbent, at_.incumbent);
    const Program b = placed(challenger, placebos.challenger, program);
    PairSettings timed = settings(turn);
    timed.contents.referee = referee(declared_constant(at_.task.incumbent), declared_constant(challenger));
    result.pair = despite_kills([&] { return at_.pairs_of_proof.measure(built.code, {{&a}, at_.incumbent_hashes}, {{&b}, hashes}, timed, random); });
    result.failure = failure_of(result.pair.disqualified, "prove", seed);
    if (!result.failure && result.pair.dropped.empty()) result.failure = batched_only(built.code, result.pair.timing);
  } catch (const WorkerDied& died) {
    result.failure = failure_of(died.death, "prove", seed);
  } catch (const WorkerRefused& refused) {
    result.failure = Failure{Outcome::kCrashed, "load-failed", "prove", refused.what(), seed};
  }
  return result;
}

}  // namespace amdahl
