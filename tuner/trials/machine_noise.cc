#include "tuner/trials/machine_noise.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <list>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/machine.h"
#include "base/processors.h"
#include "base/statistics.h"
#include "starter_kernels/examples/example_graph.h"
#include "tuner/measurement/layout_noise.h"
#include "tuner/measurement/measure.h"
#include "tuner/measurement/rule_power.h"
#include "tuner/validation/input_ranges.h"

namespace fs = std::filesystem;

namespace amdahl {
namespace {

constexpr int kFormat = 4;  // of the cached file
constexpr uint64_t kSeed = 20;

Graph product_graph() {
  ExampleGraph g("noise");
  const ValueId x = g.input({192, 512});
  return g.finish({g.node("MatMul", {x, g.normal({512, 768}, 1)})});
}

Graph gelu_graph() {
  ExampleGraph g("noise", 20);
  return g.finish({g.node("Gelu", {g.input({128, 1024})})});  // half a MiB in, half out, of each call its own
}

// Rows and a few loops: of the kinds here the one whose time depends most on where its code and its rows lie.
Graph layernorm_graph() {
  ExampleGraph g("noise", 17);
  const ValueId x = g.input({256, 768});
  return g.finish({g.node("LayerNormalization", {x, g.normal({768}, 1), g.normal({768}, 2)}, {{"axis", int64_t{-1}}})});
}

// One kernel with its builds. Build 0 stands in the incumbent's arm of every pair.
class Specimen {
 public:
  Specimen(NoiseFamily family, std::string name, Graph graph, int builds, Builder& builder, const NoiseOptions& options, const TrialOptions& bench)
      : family_(family),
        name_(std::move(name)),
        graph_(std::move(graph)),
        device_(builder.target().device),
        constants_(graph_),
        input_source_(input_ranges(graph_, graph_.inputs), bench.worker.backend->make_arena("amdahl-inputs")) {
    const Plan plan = starter_plan(graph_, options.threads, builder.target());
    Window window;
    for (size_t i = 0; i < plan.steps.size(); ++i) window.steps.push_back(static_cast<int>(i));
    const WindowIo io = io_of(graph_, plan, window);
    const auto start = Clock::now();
    const std::vector<BuildResult> placebos = builder.placebos({plan.steps}, 1, builds)[0];
    build_seconds_ = since(start) / builds;
    std::vector<BuildResult> all = builder.build({plan.steps});
    all.insert(all.end(), placebos.begin(), placebos.end());
    for (const BuildResult& b : all) {
      if (!b.ok) throw Error(ExitCode::kNoCompiler, fmt::format("cannot build the kernels that measure noise: {}", b.message));
      Blob blob;
      programs_.push_back(window_program(graph_, io, plan.steps, b.libraries, options.threads, &blob));
      constants_.adopt(programs_.back(), blob);
    }
    by_build_.resize(static_cast<size_t>(builds));
    drive_.worker = bench.worker;
    drive_.worker.threads = options.threads;
    drive_.input_source = &input_source_;
    drive_.constants = &constants_;
    drive_.weights.weights_seed = kSeed;
    plan_segments_for(bench.pair_seconds);
  }

  // Pairs of build `number` against build 0; number 0 is A/A.
  void measure(int number, Random& random) {
    const auto start = Clock::now();
    const PairResult pair = measure_pair({{&programs_[0]}, {}}, {{&programs_[static_cast<size_t>(number)]}, {}}, drive_, random);
    if (pair.disqualified) throw Error(ExitCode::kInternal, "a kernel that measures noise " + pair.disqualified->reason);
    seconds_.push_back(since(start));
    dropped_ += !pair.dropped.empty();
    // Dropped pairs count where nothing else would be left: a machine that is never quiet is measured as it is.
    if (!pair.dropped.empty() && dropped_ < 4 + static_cast<int>(calls_.size())) return;
    calls_.push_back(pair.timing.seconds_a);
    (number == 0 ? same_ : by_build_[static_cast<size_t>(number - 1)]).push_back(pair.timing.log_ratio);
  }

  KernelNoise result() const {
    const LayoutNoise n = estimate_layout_noise(same_, by_build_);
    KernelNoise k{
        family_,         name_, median(calls_), n.process_sd, n.layout_sd, n.layout_high, static_cast<int>(by_build_.size()), static_cast<int>(calls_.size()),
        median(seconds_)};
    DecisionRule rule;
    set_rule_for(n.layout_high, rule);
    k.delta = rule.delta;
    k.proof_builds = rule.builds;
    const PairNoise noise{n.residuals, n.layout_sd};
    k.smallest_gain = smallest_gain(rule, noise, 0.95, kSeed);
    k.hopeful_gain = smallest_gain(rule, noise, 0.2, kSeed);
    Random random(kSeed);
    k.proof_pairs = power_at(rule, noise, k.smallest_gain, 400, random).pairs;
    k.proof_seconds = k.proof_pairs * k.pair_seconds + 4 * rule.builds * build_seconds_;  // two stages, two arms
    return k;
  }
  double build_seconds() const { return build_seconds_; }
  int dropped() const { return dropped_; }

 private:
  // As a window's: by the speed of the build that stands in the incumbent's arm.
  void plan_segments_for(double pair_seconds) {
    Random random(kSeed);
    drive_.copies = copies_for(programs_[0], SIZE_MAX);
    drive_.slots = std::max(3, drive_.copies);
    const auto remote = start_arm(programs_[0], drive_, random);
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back(remote->worker().run_awake(i % drive_.slots, 1, 1, drive_.call_seconds).seconds);
    const double call = std::max(median(seconds) - remote->worker().handover(drive_.call_seconds), 1e-6);
    drive_.segments = plan_segments(call, pair_seconds, operand_bytes(programs_[0]), operand_budget(device_));
    drive_.slots = std::max({drive_.segments.calls, drive_.copies, 3});
  }

  NoiseFamily family_;
  std::string name_;
  Graph graph_;
  DeviceInfo device_;
  ConstantsFile constants_;
  InputSource input_source_;
  std::vector<Program> programs_;
  PairSettings drive_;
  std::vector<double> same_, calls_, seconds_;
  std::vector<std::vector<double>> by_build_;
  double build_seconds_ = 0;
  int dropped_ = 0;
};

std::string path_of(const std::string& cache_dir, const std::string& machine, int threads) {
  return fmt::format("{}/noise-{}-{}.json", cache_dir, hash_hex(machine + processors().text()), threads);
}

MachineNoise measure(std::shared_ptr<const Toolchain> toolchain, const NoiseOptions& options, const TrialOptions& bench, const NoiseProgress& progress);

}  // namespace

// Simulated false keeps of placebo pairs (docs/trust/nothing-against-nothing.md): a build's deviation of 0.7% wants 8 builds at a delta of 0.5%, one
// of 1.5% wants 8 at 1%; below 0.3% four are as good.
void set_rule_for(double layout_sd, DecisionRule& rule) {
  rule.delta = layout_sd <= 0.007 ? 0.005 : 0.01;
  rule.builds = layout_sd <= 0.003 ? 4 : 8;
}

bool MachineNoise::while_busy() const {
  int pairs = 0;
  for (const KernelNoise& k : kernels) pairs += k.pairs;
  return 2 * pairs_dropped > pairs;
}

void set_rules_for(const MachineNoise& noise, ProofRules& rules) {
  constexpr double kMostHoped = 0.03;
  for (const KernelNoise& k : noise.kernels) {
    ProofRule& rule = rules.by_family.try_emplace(k.family, rules.fallback).first->second;
    rule.rule.delta = k.delta;
    rule.rule.builds = k.proof_builds;
    rule.hopeful_gain = std::min(k.hopeful_gain, kMostHoped);
  }
}

MachineNoise measure_machine_noise(std::shared_ptr<const Toolchain> toolchain, const NoiseOptions& options, const TrialOptions& bench,
                                   const NoiseProgress& progress) {
  try {
    return measure(std::move(toolchain), options, bench, progress);
  } catch (const WorkerDied& died) {
    throw Error(ExitCode::kInternal, "a kernel that measures noise died: " + died.death.reason);
  } catch (const WorkerRefused& refused) {
    throw Error(ExitCode::kInternal, std::string("a kernel that measures noise cannot be run: ") + refused.what());
  }
}

namespace {

MachineNoise measure(std::shared_ptr<const Toolchain> toolchain, const NoiseOptions& options, const TrialOptions& bench, const NoiseProgress& progress) {
  const auto start = Clock::now();
  const auto say = [&](double fraction, const char* what) {
    if (progress) progress(fraction, what);
  };
  say(0, "building placebos");
  const int builds = options.quick ? 5 : 8;
  const double limit = options.quick ? 14 : 58;
  const DeviceInfo device = toolchain->target().device;
  Builder builder(std::move(toolchain), std::max(1, this_machine().units), bench.worker.stop);
  std::list<Specimen> specimens;  // neither moved nor copied: workers map what they hold
  specimens.emplace_back(NoiseFamily::kProducts, "matrix product", product_graph(), builds, builder, options, bench);
  specimens.emplace_back(NoiseFamily::kElements, "gelu", gelu_graph(), builds, builder, options, bench);
  specimens.emplace_back(NoiseFamily::kRows, "layer norm", layernorm_graph(), builds, builder, options, bench);

  // Rounds of all builds and half as many A/A, so that drift meets all of them alike.
  Random random(kSeed);
  std::vector<int> round;
  for (int b = 1; b <= builds; ++b) round.push_back(b);
  round.insert(round.end(), static_cast<size_t>(builds / 2), 0);
  for (int r = 0; r < 2 || since(start) < limit * r / (r + 1); ++r) {  // another round must fit
    for (size_t i = round.size(); i > 1; --i) std::swap(round[i - 1], round[random.below(i)]);
    for (int number : round) {
      say(std::min(0.99, since(start) / limit), "pairs of placebo builds");  // two rounds may take longer
      for (Specimen& s : specimens) s.measure(number, random);
    }
  }

  MachineNoise n;
  n.machine = device.fingerprint();
  n.processors = processors().text();
  n.threads = options.threads;
  n.quick = options.quick;
  for (const Specimen& s : specimens) {
    n.kernels.push_back(s.result());
    n.pairs_dropped += s.dropped();
    n.build_seconds += s.build_seconds() / static_cast<double>(specimens.size());
  }
  n.measured_at = static_cast<int64_t>(std::time(nullptr));
  n.took_seconds = since(start);
  return n;
}

}  // namespace

std::optional<MachineNoise> cached_machine_noise(const std::string& cache_dir, const DeviceInfo& device, int threads) {
  std::ifstream in(path_of(cache_dir, device.fingerprint(), threads));
  if (!in) return std::nullopt;
  try {
    const Json j = Json::parse(in);
    MachineNoise n = j.get<MachineNoise>();
    if (j.at("format") == kFormat && n.machine == device.fingerprint() && n.processors == processors().text() && n.threads == threads) return n;
  } catch (const std::exception&) {
    // Cut short or of an older format: as good as none.
  }
  return std::nullopt;
}

void cache_machine_noise(const MachineNoise& noise, const std::string& cache_dir) {
  std::error_code ignored;
  fs::create_directories(cache_dir, ignored);
  try {
    write_atomically(path_of(cache_dir, noise.machine, noise.threads), Json(noise).dump(1) + '\n');
  } catch (const Error&) {
    // A cache that cannot be written costs the next session a measurement.
  }
}

void to_json(Json& j, const MachineNoise& n) {
  j = Json{{"format", kFormat},
           {"machine", n.machine},
           {"processors", n.processors},
           {"threads", n.threads},
           {"measured_at", n.measured_at},
           {"took_seconds", n.took_seconds},
           {"quick", n.quick},
           {"kernels", Json::array()},
           {"pairs_dropped", n.pairs_dropped},
           {"build_seconds", n.build_seconds}};
  for (const KernelNoise& k : n.kernels)
    j["kernels"].push_back({{"family", to_string(k.family)},
                            {"name", k.name},
                            {"seconds", k.seconds},
                            {"process_sd", k.process_sd},
                            {"layout_sd", k.layout_sd},
                            {"layout_high", k.layout_high},
                            {"builds", k.builds},
                            {"pairs", k.pairs},
                            {"pair_seconds", k.pair_seconds},
                            {"delta", k.delta},
                            {"proof_builds", k.proof_builds},
                            {"smallest_gain", k.smallest_gain},
                            {"hopeful_gain", k.hopeful_gain},
                            {"proof_pairs", k.proof_pairs},
                            {"proof_seconds", k.proof_seconds}});
}

void from_json(const Json& j, MachineNoise& n) {
  n = {};
  n.machine = j.at("machine");
  n.processors = j.at("processors");
  n.threads = j.at("threads");
  n.measured_at = j.at("measured_at");
  n.took_seconds = j.at("took_seconds");
  n.quick = j.at("quick");
  n.pairs_dropped = j.at("pairs_dropped");
  n.build_seconds = j.at("build_seconds");
  for (const Json& k : j.at("kernels"))
    n.kernels.push_back({noise_family_named(k.at("family").get<std::string>()), k.at("name"), k.at("seconds"), k.at("process_sd"), k.at("layout_sd"),
                         k.at("layout_high"), k.at("builds"), k.at("pairs"), k.at("pair_seconds"), k.at("delta"), k.at("proof_builds"), k.at("smallest_gain"),
                         k.at("hopeful_gain"), k.at("proof_pairs"), k.at("proof_seconds")});
}

}  // namespace amdahl
