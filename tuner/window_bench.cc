#include "tuner/window_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/error.h"
#include "base/hash.h"

namespace amdahl {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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

// Windows of one signature compute the same, but weights are drawn with the mean and deviation of each window's own: what
// is expected of one place is not expected of another.
std::string weights_id(const Program& program) {
  std::set<std::string> weights;
  for (const Program::Buffer& b : program.buffers)
    if (b.role == Program::Role::kConstant && b.blob_offset < 0)
      weights.insert(fmt::format("{} {} {}", b.source, b.mean, b.deviation));
  std::string text;
  for (const std::string& w : weights) text += w + ";";
  return hash_hex(text);
}

// The draw that is tried after timed calls: where they found their inputs, other contents lie. A kernel that remembers
// results by address, or that began to after some calls, gives the wrong ones.
Draw draw_after_timing(const Judge& judge) {
  Draw draw = judge.checks[0].draw;
  draw.seed ^= 0x5eed;
  return draw;
}

std::vector<std::byte> outputs_after_timing(WorkerProcess& worker, const Judge& judge, const Subject& subject) {
  const Draw draw = draw_after_timing(judge);
  worker.inputs(draw.family, draw.seed, judge.ranges, judge.deadline());
  return worker.trial(0, draw.seed, subject.output_bytes(), judge.deadline()).outputs;
}

std::string hash_of(const std::vector<std::byte>& bytes) { return hash_hex(bytes.data(), bytes.size()); }

}  // namespace

WindowBench::WindowBench(const Graph& graph, Builder& builder, const BenchOptions& options)
    : graph_(graph),
      builder_(builder),
      options_(options),
      starter_(starter_plan(graph, options.worker.threads)),
      cache_(options.reference_bytes) {}

Subject WindowBench::subject_of(const WindowIo& io, const std::vector<Step>& steps,
                                const std::vector<std::string>& libraries) const {
  Subject s;
  s.program = window_program(graph_, io, steps, libraries, task_.threads, &s.blob);
  return s;
}

ExpectedOf WindowBench::expected_of(const WindowIo& io, const Program& program, const std::string& signature) {
  return [this, &io, &program, key = signature + weights_id(program)](const Draw& draw) {
    return cache_.get(key, draw, [&] {
      return expected_outputs(graph_, io, program, draw, input_ranges(graph_, distinct_inputs(io)));
    });
  };
}

const Judge& WindowBench::judge_for(const WindowTask& task) {
  const std::string key = task.signature + weights_id(incumbent_.program);
  const auto known = judges_.find(key);
  if (known != judges_.end()) return known->second;
  Judge judge;
  judge.signature = task.signature;
  try {
    const WindowIo io = plain(task.io);
    const std::set<NodeId> nodes(io.nodes.begin(), io.nodes.end());
    std::vector<Step> steps;
    for (const Step& s : starter_.steps)
      if (!s.nodes.empty() && std::all_of(s.nodes.begin(), s.nodes.end(), [&](NodeId n) { return nodes.count(n) > 0; }))
        steps.push_back(s);
    const Built built = builder_.build({steps})[0];
    if (!built.ok) throw WorkerRefused("the starter does not compile: " + built.message);
    const Subject starter = subject_of(io, steps, built.libraries);
    WorkerProcess worker(options_.worker);
    // A value that the window writes in two formats is one output of the starter: other references than the challengers'.
    judge = make_judge(task.signature, input_ranges(graph_, distinct_inputs(io)), starter, options_.seed, worker,
                       expected_of(io, starter.program, task.signature + (io.outputs == task.io.outputs ? "" : " plain")));
  } catch (const WorkerDied& died) {
    judge.unusable = "the starter died: " + died.death.reason;
  } catch (const WorkerRefused& refused) {
    judge.unusable = refused.what();
  }
  return judges_[key] = judge;
}

std::string WindowBench::enter(const WindowTask& task) {
  incumbent_worker_.reset();
  fingerprints_.clear();
  task_ = task;
  const Built built = builder_.build({task.incumbent})[0];
  if (!built.ok) return "the incumbent does not compile: " + built.message;
  incumbent_ = subject_of(task_.io, task.incumbent, built.libraries);
  judge_ = &judge_for(task);
  if (!judge_->unusable.empty()) return judge_->unusable;
  try {
    restart_incumbent();
  } catch (const WorkerDied& died) {
    return "the incumbent died: " + died.death.reason;
  } catch (const WorkerRefused& refused) {
    return refused.what();
  }
  return "";
}

Arm WindowBench::arm_of(const Subject& subject) const {
  Arm arm;
  arm.subjects = {&subject};
  arm.instances = instances_for(subject.program);
  arm.weights_seed = judge_->checks[0].draw.weights_seed;
  return arm;
}

Drive WindowBench::drive() const {
  Drive d;
  d.worker = options_.worker;
  d.family = judge_->checks[0].draw.family;
  d.input_seed = judge_->checks[0].draw.seed;
  d.ranges = judge_->ranges;
  d.call_seconds = judge_->deadline();
  return d;
}

void WindowBench::restart_incumbent() {
  Random random(options_.seed ^ ++races_);
  incumbent_worker_ = start_arm(arm_of(incumbent_), drive(), random);
  const int calls = std::min(3, instances_for(incumbent_.program));
  incumbent_seconds_ = incumbent_worker_->run(calls, judge_->deadline() * calls) / calls;
}

// Loads the candidate as it is timed; seconds of a call.
double WindowBench::ready_to_race(WorkerProcess& worker, const Subject& subject) {
  const Drive d = drive();
  LoadRequest request;
  request.program = &subject.program;
  request.blob = &subject.blob;
  request.instances = instances_for(subject.program);
  request.weights_seed = judge_->checks[0].draw.weights_seed;
  worker.load(request, d.load_seconds);
  worker.inputs(d.family, d.input_seed, d.ranges, d.load_seconds);
  worker.run(1, d.call_seconds);  // first touch, threads started
  return worker.run(1, d.call_seconds);
}

Timing WindowBench::race(WorkerProcess& worker, double challenger_seconds, double budget_seconds) {
  Random random(options_.seed ^ ++races_);
  const Segments segments = plan_segments((incumbent_seconds_ + challenger_seconds) / 2, budget_seconds, /*fewest_blocks=*/1);
  return alternate(*incumbent_worker_, worker, segments, judge_->deadline() * segments.calls, random);
}

Screened WindowBench::screen(const std::vector<Step>& challenger, const Built& built, double bar) {
  Screened result;
  const Subject subject = subject_of(task_.io, challenger, built.libraries);
  const ExpectedOf expected = expected_of(task_.io, subject.program, task_.signature);
  const uint64_t seed = judge_->checks[0].draw.seed;
  auto start = Clock::now();
  const auto lap = [&](double* seconds) {
    *seconds += since(start);
    start = Clock::now();
  };
  WorkerProcess worker(options_.worker);
  Validation validation(subject, *judge_, task_.threads, worker, expected);
  try {
    result.failure = validation.smoke();
    lap(&result.validate_seconds);
    if (result.failure) return result;
    // A clear loser does not deserve the other stages: most candidates end here.
    result.race = race(worker, ready_to_race(worker, subject), options_.race_seconds / 4);
    lap(&result.race_seconds);
    if (result.race.log_ratio < bar - options_.loser_margin) return result;

    result.failure = validation.rest();
    lap(&result.validate_seconds);
    if (result.failure) return result;

    result.race = race(worker, ready_to_race(worker, subject), options_.race_seconds);
    const std::vector<std::byte> outputs = outputs_after_timing(worker, *judge_, subject);
    const Discrepancy d = compare(*expected(draw_after_timing(*judge_)), subject.program, outputs);
    if (!d.within) result.failure = Failure{Outcome::kWrong, "stale", "race", "after its timed calls, on other inputs at the same addresses: " + d.message, seed};
    fingerprints_[built.code] = hash_of(outputs);
  } catch (const WorkerDied& died) {
    result.failure = failure_of(died.death, "race", seed);
  } catch (const WorkerRefused& refused) {
    result.failure = Failure{Outcome::kCrashed, "load-failed", "race", refused.what(), seed};
  }
  // Whoever died, the next challenger finds a living incumbent.
  if (result.failure) restart_incumbent();
  lap(&result.race_seconds);
  return result;
}

Paired WindowBench::pair(const std::vector<Step>& challenger, const Built& built, Random& random) {
  Paired result;
  incumbent_worker_.reset();  // its memory and its cores are needed
  const Subject subject = subject_of(task_.io, challenger, built.libraries);
  const uint64_t seed = judge_->checks[0].draw.seed;
  try {
    result.pair = measure_pair(arm_of(incumbent_), arm_of(subject), drive(), options_.pair_seconds, random,
                               [&](WorkerProcess& worker) {
      if (hash_of(outputs_after_timing(worker, *judge_, subject)) != fingerprints_[built.code])
        result.failure = Failure{Outcome::kWrong, "nondeterministic", "determinism", "after its timed calls a fresh process gave other bits", seed};
    });
  } catch (const WorkerDied& died) {
    result.failure = failure_of(died.death, "prove", seed);
  } catch (const WorkerRefused& refused) {
    result.failure = Failure{Outcome::kCrashed, "load-failed", "prove", refused.what(), seed};
  }
  return result;
}

}  // namespace amdahl
