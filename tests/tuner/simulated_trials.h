#pragma once
// A machine made of formulas: the loop can be tested without a compiler, a process or a clock.

#include <cmath>
#include <functional>

#include "base/device_info.h"
#include "base/hash.h"
#include "playbook/rewrite.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tuner/search/searcher.h"
#include "tuner/trials/trial_runner.h"

namespace amdahl::testing {

// A processor with AVX2: starters do not depend on whose machine runs the tests.
inline const Target& simulated_target() {
  static const Target target = [] {
    DeviceInfo device;
    device.name = "simulated";
    device.features = {"avx2", "fma"};
    return cpu_target(device);
  }();
  return target;
}

// `count` matmuls in a chain, all of one shape; the last has `last` columns.
inline Graph chain_of_matmuls(int count, int64_t last = 64) {
  Graph g;
  const int64_t n = 64;
  Random random(5);
  ValueId at = g.add_value("x", DType::kF32, {n, n});
  g.inputs = {at};
  const auto columns_of = [&](int i) { return i + 1 < count ? n : last; };
  std::vector<ValueId> results;  // before the weights: a window's numbers for its values are not the graph's
  for (int i = 0; i < count; ++i) results.push_back(g.add_value("y" + std::to_string(i), DType::kF32, {n, columns_of(i)}));
  for (int i = 0; i < count; ++i) {
    const int64_t columns = columns_of(i);
    std::vector<float> w(static_cast<size_t>(n * columns));
    for (float& v : w) v = static_cast<float>(random.normal());
    Node node;
    node.name = "mm" + std::to_string(i);
    node.op = "MatMul";
    node.version = 13;
    node.inputs = {at, g.add_constant("w" + std::to_string(i), Tensor::of(DType::kF32, {n, columns}, w))};
    at = results[static_cast<size_t>(i)];
    node.outputs = {at};
    g.nodes.push_back(node);
  }
  g.outputs = {at};
  return g;
}

// Opens MR and KC of a matmul.
class TuneBlocks : public Rewrite {
 public:
  int tier() const override { return 1; }
  std::string_view name() const override { return "tune_blocks"; }
  std::string_view target() const override { return "matmul"; }
  std::string_view precondition() const override { return ""; }
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    if (step.variant.problem.kind != "matmul") {
      *refusal = "not a matmul";
      return std::nullopt;
    }
    Match match{{{anchor}}, {step}, {{0, "MR", {1, 2, 4, 6, 8}}, {0, "KC", {64, 128, 192, 256}}}};
    match.replacement[0].variant.knobs["NRV"] = 1;  // tiles of eight rows that 16 registers hold too
    return match;
  }
};

class SimulatedTrials : public TrialRunner {
 public:
  // Seconds of one step, by its knobs. The optimum is MR 8, KC 64.
  static double seconds_of(const Step& step) {
    const Knobs& k = step.variant.knobs;
    return 1e-3 * (1 + 0.04 * std::abs(static_cast<double>(k.at("MR")) - 8) + 0.1 * std::log2(static_cast<double>(k.at("KC")) / 64));
  }
  static double seconds_of(const std::vector<Step>& steps) {
    double sum = 0;
    for (const Step& s : steps) sum += seconds_of(s);
    return sum;
  }

  const Target& target() const override { return simulated_target(); }
  double now() const override { return clock; }
  void rest(double seconds) override { clock += seconds; }

  std::vector<BuildResult> build(const std::vector<std::vector<Step>>& candidates) override {
    clock += 0.1 * static_cast<double>(candidates.size());
    std::vector<BuildResult> built;
    for (const auto& steps : candidates) {
      BuildResult b;
      b.ok = !(fails_to_build && fails_to_build(steps[0].variant.knobs));
      b.message = b.ok ? "" : "error: planted";
      b.libraries.assign(steps.size(), "none");
      b.code = candidate_id(steps);
      built.push_back(b);
    }
    return built;
  }
  std::string enter(const WindowTask& task) override {
    clock += 0.5;
    incumbent = pacer = task.incumbent;
    return unusable;
  }
  ScreenResult screen(const std::vector<Step>& challenger, const BuildResult&, double) override {
    clock += screen_seconds;
    last_screen = clock;
    ScreenResult s;
    if (verdict) s.failure = verdict(challenger[0].variant.knobs);
    s.race = timing(seconds_of(pacer), seconds_of(challenger), 0.005 + (luck ? luck(challenger[0]) : 0));
    return s;
  }
  bool pace(const std::vector<Step>& form, const BuildResult&) override {
    pacer = form;
    return true;
  }
  Placebos placebos(const std::vector<Step>& challenger, int first, int count) override {
    stages.push_back({candidate_id(challenger), first, count, clock});
    Placebos p;
    p.incumbent.resize(static_cast<size_t>(count));
    p.challenger.resize(static_cast<size_t>(count));
    return p;
  }
  PairTrial pair(const std::vector<Step>& challenger, const BuildResult&, const Placebos&, Random& random) override {
    clock += 0.3;
    PairTrial p;
    const double lost = loses_later && stages.back().first > 1 ? loses_later(challenger[0]) : 0;
    p.pair.timing = timing(seconds_of(incumbent), seconds_of(challenger), 0.01 * random.normal() - lost);
    if (const std::optional<double> ratio = paired ? paired(challenger[0], stages.back().first) : std::nullopt) p.pair.timing.log_ratio = *ratio;
    p.pair.timing.worked_a = 1;
    p.pair.timing.worked_b = works;
    if (disturbed && disturbed(p.pair.timing.log_ratio)) p.pair.dropped = "others took it";
    if (impossible && impossible(pairs)) p.below_floor = "the challenger took 0 ms";
    ++pairs;
    return p;
  }
  Profile profile(const Plan& plan) override {
    Profile p;
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      StepProfile s;
      s.step = static_cast<int>(i);
      s.seconds = seconds_of(plan.steps[i]);
      s.floor.seconds = 0.9e-3;
      p.seconds += s.seconds;
      p.steps.push_back(s);
    }
    if (change_profile) change_profile(p);
    clock += model_seconds;
    ++profiles;
    return p;
  }
  PairTrial model_pair(const Plan& before, const Plan& after, Distribution inputs, Random& random) override {
    families.push_back(inputs);
    clock += 1.5 * model_seconds;  // two processes with fewer runs each than the one of a profile
    PairTrial p;
    const double a = seconds_of(before.steps);
    const double b = (model_ignores_wins ? a : seconds_of(after.steps)) * std::exp(model_loses);
    p.pair.timing = timing(a, b, 0.003 * random.normal());
    p.pair.timing.worked_a = 1;
    p.pair.timing.worked_b = works;
    if (never_quiet) p.pair.dropped = "the host took it";
    ++model_pairs;
    return p;
  }
  ModelCheck check_model(const Plan&, const Draw& inputs) override {
    clock += check_seconds;
    checked.push_back(inputs);
    return {std::nullopt, model_error, inputs.distribution == Distribution::kNormal ? judged_on_normal : judged_on_others};
  }
  std::vector<Distribution> families;  // of the inputs of model pairs
  std::vector<Draw> checked;
  double check_seconds = 0;
  double works = 1;        // seconds of all calls together, challenger over incumbent: what medians do not show
  double model_loses = 0;  // log ratio that pairs of whole models show less, once the gates have passed
  std::function<void(Profile&)> change_profile;
  double model_error = 1e-6;
  double judged_on_normal = 1, judged_on_others = 1;  // ModelCheck::judged

  // One stage of a proof: what drew from which builds, and when it began.
  struct Stage {
    std::string candidate;
    int first, count;
    double at;
  };
  std::vector<Stage> stages;
  std::function<double(const Step&)> luck;                        // log ratio that a race shows too much
  std::function<double(const Step&)> loses_later;                 // log ratio that a confirmation misses of its proof
  std::function<std::optional<double>(const Step&, int)> paired;  // log ratio of a pair, by challenger and number of the stage's first build
  std::function<bool(double)> disturbed;                          // whether a pair with this log ratio is
  std::function<bool(int)> impossible;                            // pairs with a time below the floor, by number
  double clock = 1000, screen_seconds = 0.2, model_seconds = 1, last_screen = 0;
  std::function<bool(const Knobs&)> fails_to_build;
  std::function<std::optional<Failure>(const Knobs&)> verdict;
  std::string unusable;
  bool model_ignores_wins = false, never_quiet = false;
  int pairs = 0, model_pairs = 0, profiles = 0;

 private:
  static Timing timing(double a, double b, double noise) { return {a, b, std::log(a / b) + noise}; }
  std::vector<Step> incumbent, pacer;
};

}  // namespace amdahl::testing
