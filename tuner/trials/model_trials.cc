#include "tuner/trials/model_trials.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/hash.h"
#include "base/printable.h"
#include "base/statistics.h"
#include "graph/ops/precision.h"
#include "graph/oracle.h"
#include "profiler/processor_load.h"
#include "tuner/trials/despite_kills.h"
#include "tuner/validation/conduct.h"
#include "tuner/validation/input_ranges.h"

namespace amdahl {

namespace {

// Between outputs of two plans, of their root mean square. What is looked for here is old or missing outputs, which differ by about that; how exact a plan
// is, the gate asks float64. Two honest plans of a model in half precision round differently in every layer: up to 128 roundings of the coarsest
// type's are let pass.
double model_tolerance(const Graph& graph, double asked) {
  double coarsest = 0;
  for (const Value& value : graph.values) coarsest = std::max(coarsest, is_float(value.dtype) ? precision_of(value.dtype).store : 0.0);
  return std::max(asked, 128 * coarsest);
}

}  // namespace

ModelTrials::ModelTrials(const Graph& graph, Builder& builder, const TrialOptions& options, const CeilingProbe& probe, std::string cache_dir)
    : graph_(graph),
      builder_(builder),
      options_(options),
      probe_(probe),
      cache_dir_(std::move(cache_dir)),
      constants_(graph),
      input_source_(input_ranges(graph, graph.inputs), options.worker.backend->make_arena("amdahl-inputs")) {}

const Ceilings& ModelTrials::ceilings() {
  if (!ceilings_) ceilings_ = std::make_unique<Ceilings>(cached_ceilings(probe_, cache_dir_));
  return *ceilings_;
}

Program ModelTrials::program_of(const Plan& plan) {
  std::vector<std::vector<Step>> one_by_one;
  for (const Step& s : plan.steps) one_by_one.push_back({s});
  std::vector<std::string> libraries;
  for (const BuildResult& built : builder_.build(one_by_one)) {
    if (!built.ok) throw Error(ExitCode::kInternal, "a kernel of the plan does not compile: " + built.message);
    libraries.push_back(built.libraries[0]);
  }
  Blob blob;
  Program program = model_program(graph_, plan, libraries, &blob);
  constants_.adopt(program, blob);
  return program;
}

PairSettings ModelTrials::settings(const Program& program) {
  PairSettings d;
  d.worker = options_.worker;
  d.input_source = &input_source_;
  d.constants = &constants_;
  // A run of half a second and more is its own average: one block, not two.
  const double call = call_seconds_ > 0 ? call_seconds_ : 1;
  d.segments = plan_segments(call, 6 * options_.pair_seconds, operand_bytes(program), operand_budget(builder_.target().device), call > 0.5 ? 1 : 2,
                             segment_limits(*options_.worker.backend));
  d.slots = std::max(d.segments.calls, 2);
  // Address space: the mapped constants, packed copies of them, activations, operands, and what a process needs anyway.
  d.worker.memory_bytes = static_cast<int64_t>(3 * constants_.bytes() + program.arena_bytes + static_cast<size_t>(d.slots) * operand_bytes(program)) +
                          std::max<int64_t>(options_.worker.memory_bytes, 0);
  d.contents.tolerance = -model_tolerance(graph_, options_.model_tolerance);
  d.contents.share_allowed = 0.02;
  d.load_seconds = 120;
  d.call_seconds = 60;
  return d;
}

Profile ModelTrials::profile(const Plan& plan) {
  pairs_.end();
  const Program program = program_of(plan);
  Random random(options_.seed);
  const PairSettings d = settings(program);
  std::vector<std::vector<double>> samples;
  std::vector<double> speeds;
  const Ceilings& machine = ceilings();
  double busy = 0;
  PairSettings timing_steps = d;
  timing_steps.worker.clock = true;
  const auto look_at_speed = [&] {  // not between the runs: nothing of ours is to be in their way
    for (int i = 0; i < 5; ++i) speeds.push_back(probe_.share_of_peak(machine, options_.worker.threads));
  };
  try {
    despite_kills([&] {
      samples.clear();
      speeds.clear();
      const OthersLoad load;
      auto remote = start_arm(program, timing_steps, random);
      const double once = call_seconds_ = remote->worker().run(0, 1, 1, d.call_seconds).seconds;
      const int runs = static_cast<int>(std::clamp(1.0 / std::max(once, 1e-6), once > 1 ? 3.0 : 5.0, 60.0));
      look_at_speed();
      for (int r = 0; r < runs; ++r) {
        const std::vector<double> by_call = remote->worker().steps(1, d.call_seconds);
        std::vector<double> by_step(plan.steps.size(), 0.0);
        for (size_t c = 0; c < by_call.size(); ++c) by_step[static_cast<size_t>(program.calls[c].step)] += by_call[c];
        samples.push_back(std::move(by_step));
      }
      look_at_speed();
      remote.reset();  // a child's processor time is known when it has ended
      busy = load.share();
    });
  } catch (const WorkerDied& died) {
    const bool killed = died.death.kind == WorkerExit::Kind::kKilled;
    throw Error(killed ? ExitCode::kIo : ExitCode::kInternal,
                "the plan cannot be run: " + died.death.reason + (killed ? "; free memory, then go on with resume" : ""));
  } catch (const WorkerRefused& refused) {
    throw Error(ExitCode::kInternal, std::string("the plan cannot be run: ") + refused.what());
  }
  Profile profile = make_profile(graph_, plan, samples, machine);
  slow_floors(profile, median(speeds));
  profile.busy = busy;
  return profile;
}

PairTrial ModelTrials::pair(const Plan& before, const Plan& after, Distribution inputs, Random& random) {
  PairTrial result;
  const Program a = program_of(before), b = program_of(after);
  const std::string key = hash_hex(Json{a, b, static_cast<int>(inputs)}.dump());
  const auto drive_of = [&](const Program& program) {
    PairSettings d = settings(program);
    d.contents.distribution = inputs;
    d.contents.referee = [this](RemoteProgram& left, RemoteProgram& right, size_t slot) { return at_fault(left, right, slot); };
    return d;
  };
  try {
    result.pair = despite_kills([&] {
      if (call_seconds_ == 0) call_seconds_ = start_arm(a, drive_of(a), random)->worker().run(0, 1, 1, 60).seconds;
      return pairs_.measure(key, {{&a}, {}}, {{&b}, {}}, drive_of(b), random);
    });
    result.failure = failure_of(result.pair.disqualified, "gate", options_.seed);
  } catch (const WorkerDied& died) {
    result.failure = failure_of(died.death, "gate", options_.seed);
  } catch (const WorkerRefused& refused) {
    result.failure = Failure{Outcome::kCrashed, "load-failed", "gate", refused.what(), options_.seed};
  }
  return result;
}

ModelTrials::Outputs ModelTrials::evaluated(const std::vector<Tensor>& inputs) const {
  RefValues given;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) given[graph_.inputs[i]] = RefTensor::of(inputs[i]);
  std::vector<NodeId> nodes(graph_.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  Outputs outputs;
  for (auto& [v, r] : evaluate(graph_, nodes, given, graph_.outputs, /*bounds=*/false))
    outputs[v] = r.is_float() ? std::move(r.value) : std::vector<double>(r.ints.begin(), r.ints.end());
  return outputs;
}

const ModelTrials::Outputs& ModelTrials::reference(const Draw& draw) {
  if (!reference_.empty() && reference_of_ == std::pair{draw.distribution, draw.seed}) return reference_;
  reference_.clear();
  reference_of_ = {draw.distribution, draw.seed};
  const std::vector<InputRange> ranges = input_ranges(graph_, graph_.inputs);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const Value& v = graph_.value(graph_.inputs[i]);
    std::byte* data;
    inputs.push_back(Tensor::allocate(v.dtype, v.shape, &data));
    fill_input(data, v.dtype, v.shape, draw, static_cast<int>(i), ranges[i]);
  }
  return reference_ = evaluated(inputs);
}

ModelTrials::Deviation ModelTrials::deviation_of(const Program& program, const std::vector<std::byte>& outputs, const Outputs& reference) const {
  Deviation largest;
  size_t at = 0, all = 0, numbers = 0;
  for (size_t o = 0; o < graph_.outputs.size(); ++o) {
    const Program::Buffer& b = program.buffers[static_cast<size_t>(program.outputs[o])];
    std::byte* data;
    const Tensor got = Tensor::allocate(b.dtype, b.shape, &data);
    std::memcpy(data, outputs.data() + at, b.bytes);
    at += b.bytes;
    const std::vector<double>& want = reference.at(graph_.outputs[o]);
    const std::vector<double> values = to_doubles(got);
    double error = 0, norm = 0;
    all += want.size();
    for (size_t i = 0; i < want.size(); ++i) {
      numbers += !std::isnan(want[i]);
      if (std::isnan(want[i]) && std::isnan(values[i])) continue;
      if (want[i] == values[i]) {  // infinities too
        if (std::isfinite(want[i])) norm += want[i] * want[i];
        continue;
      }
      error += (values[i] - want[i]) * (values[i] - want[i]);
      norm += want[i] * want[i];
    }
    double relative = error == 0 ? 0 : norm > 0 ? std::sqrt(error / norm) : INFINITY;
    if (!(relative < INFINITY)) relative = INFINITY;
    if (relative > largest.relative) largest = {relative, graph_.outputs[o]};
  }
  if (all > 0) largest.judged = static_cast<double>(numbers) / static_cast<double>(all);
  return largest;
}

AtFault who_gave_old_outputs(double before, double after, double tolerance) {
  constexpr double kOld = 0.7;  // half of what old outputs are off by
  const auto is_wrong = [=](double error, double other) { return error > std::max(std::min(4 * other, kOld), 1.5 * other) + tolerance; };
  if (is_wrong(after, before)) return AtFault::kChallenger;
  return std::isfinite(before) && before > kOld && is_wrong(before, after) ? AtFault::kIncumbent : AtFault::kNobody;
}

AtFault ModelTrials::at_fault(RemoteProgram& before, RemoteProgram& after, size_t slot) const {
  const Outputs want = evaluated(before.inputs(slot));
  const auto error = [&](RemoteProgram& arm) { return deviation_of(arm.program(), arm.outputs(slot), want).relative; };
  return who_gave_old_outputs(error(before), error(after), model_tolerance(graph_, options_.model_tolerance));
}

ModelCheck ModelTrials::check(const Plan& plan, const Draw& inputs) {
  ModelCheck result;
  pairs_.end();
  const Program program = program_of(plan);
  Random random(inputs.seed);
  const uint64_t poison = random.next() >> 2;
  const PairSettings d = settings(program);
  std::vector<std::byte> outputs;
  try {
    despite_kills([&] {
      const auto remote = start_arm(program, d, random);
      remote->draw(0, inputs);
      remote->poison_outputs(0, poison);
      remote->worker().run(0, 1, 1, d.call_seconds);
      if (const std::string what = remote->unwritten(0, poison); !what.empty())
        result.failure = Failure{Outcome::kWrong, "unwritten", "gate", what, inputs.seed};
      outputs = remote->outputs(0);
    });
  } catch (const WorkerDied& died) {
    result.failure = failure_of(died.death, "gate", inputs.seed);
    return result;
  } catch (const WorkerRefused& refused) {
    result.failure = Failure{Outcome::kCrashed, "load-failed", "gate", refused.what(), inputs.seed};
    return result;
  }
  const Deviation largest = deviation_of(program, outputs, reference(inputs));
  result.error = largest.relative;
  result.judged = largest.judged;
  if (!std::isfinite(largest.relative))
    result.failure = Failure{Outcome::kWrong, "wrong-value", "gate",
                             fmt::format("output '{}' of the whole model is not finite where it should be", shown(graph_.value(largest.of).name)), inputs.seed};
  return result;
}

}  // namespace amdahl
