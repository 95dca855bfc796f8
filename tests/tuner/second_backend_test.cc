// The whole loop on a second backend: kernels, toolchain, memory, workers and ceilings of the distant device (tests/distant). What lies
// far away is this machine's own memory and threads, kept apart: the device stands on the processor's worker device, arena and sandbox.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "experiments/session.h"
#include "playbook/playbook.h"
#include "starter_kernels/examples/example_graph.h"
#include "tests/distant/distant_backend.h"
#include "tests/distant/distant_target.h"
#include "tuner/search/finish.h"
#include "tuner/search/tuner.h"
#include "tuner/trials/local_trials.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

// Far above what it reaches, so that no time is below what its device could do.
class DistantProbe : public CeilingProbe {
 public:
  const DeviceInfo& device() const override { return testing::distant_target().device; }
  std::string state() const override { return "always the same"; }
  Ceilings measure(const CeilingsProgress&) const override {
    Ceilings c;
    c.machine = device().fingerprint();
    c.processors = state();
    c.l1d_bytes = device().l1d_bytes, c.l2_bytes = device().l2_bytes, c.l3_bytes = device().l3_bytes;
    c.arithmetic = {{"scalar fp32", 1, true, 1000, 0}};
    for (MemoryLevel level : {MemoryLevel::kL1, MemoryLevel::kL2, MemoryLevel::kL3, MemoryLevel::kDram}) c.bandwidth.push_back({level, "read", 1, 0, 1000, 0});
    return c;
  }
  double share_of_peak(const Ceilings&, int) const override { return 1; }
};

class DistantBackend : public Backend {
 public:
  const Target& target() const override { return testing::distant_target(); }
  std::shared_ptr<const Toolchain> make_toolchain(const std::string& cache_dir) const override { return testing::distant_toolchain(cache_dir + "/distant"); }
  const WorkerBackend& workers() const override { return testing::distant_backend(); }
  const CeilingProbe& probe() const override { return probe_; }

 private:
  DistantProbe probe_;
};

// softmax(relu(x A + b) B)
Graph perceptron() {
  ExampleGraph g("perceptron", 17);
  const ValueId hidden = g.node("Relu", {g.node("Add", {g.node("MatMul", {g.input({24, 96}), g.normal({96, 64}, 1)}), g.normal({64}, 2)})});
  return g.finish({g.node("Softmax", {g.node("MatMul", {hidden, g.normal({64, 48}, 3)})}, {{"axis", int64_t{-1}}})});
}

class SecondBackend : public ::testing::Test {
 protected:
  SecondBackend() : folder_(fs::temp_directory_path() / ("amdahl-distant-" + std::to_string(getpid()))) { fs::create_directories(folder_); }
  ~SecondBackend() override { fs::remove_all(folder_); }

  fs::path folder_;
  DistantBackend backend_;
};

TEST_F(SecondBackend, TheWholeLoopRunsOnIt) {
  const Graph graph = perceptron();
  SessionIdentity identity;
  identity.model = "builtin:perceptron";
  const auto session = Session::create(folder_ / "session.amdahl", identity);
  TuneOptions options;
  options.experiments = 12;
  options.seconds = 120;
  TrialOptions trial_options;
  LocalTrials bench(graph, backend_, trial_options, folder_);
  TuneObserver observer;
  std::atomic<bool> stop = false;
  const TuneContext context{graph, *session, bench, playbook(), options, observer, stop};
  const TuneSummary run = Tuner(context).run();
  finish_session(context, run);

  const std::vector<Experiment> experiments = session->experiments();
  EXPECT_GE(experiments.size(), 5u) << run.why;
  std::set<std::string> rewrites;
  for (const Experiment& e : experiments) {
    rewrites.insert(e.rewrite);
    const bool harmless = e.outcome == Outcome::kKept || e.outcome == Outcome::kReverted || e.outcome == Outcome::kInconclusive;
    EXPECT_TRUE(harmless) << e.rewrite << ": " << name_of(e.outcome) << " at " << e.stage << ": " << e.reason;
    for (const Step& step : e.replacement.get<std::vector<Step>>()) {
      const std::string text = session->source(step.variant.id());
      EXPECT_NE(text.find("amdahl_run"), std::string::npos);
      EXPECT_EQ(text.find("omp"), std::string::npos) << "a kernel of the processor's";
    }
  }
  EXPECT_TRUE(rewrites.count("unroll_k")) << "the one choice that its products have";
  EXPECT_TRUE(rewrites.count("fuse_epilogue"));
  const ModelCheck check = bench.check_model(gated_plan(*session), {});
  EXPECT_FALSE(check.failure) << check.failure->reason;
  EXPECT_LT(check.error, 1e-5);
}

// Everything is built, judged and run there, but what it takes is said by a formula: how busy this machine is decides nothing.
class GivenTimes : public LocalTrials {
 public:
  using LocalTrials::LocalTrials;

  // A product is faster the more steps of K a turn of its loop has.
  static double seconds_of(const std::vector<Step>& steps) {
    double sum = 0;
    for (const Step& step : steps) {
      const auto unroll = step.variant.knobs.find("UNROLL_K");
      sum += unroll == step.variant.knobs.end() ? 1e-4 : 1e-2 / std::sqrt(static_cast<double>(unroll->second));
    }
    return sum;
  }

  double now() const override { return LocalTrials::now() + rested_; }
  void rest(double seconds) override { rested_ += seconds; }
  std::string enter(const WindowTask& task) override {
    incumbent_ = task.incumbent;
    return LocalTrials::enter(task);
  }
  ScreenResult screen(const std::vector<Step>& challenger, const BuildResult& built, double bar) override {
    ScreenResult s = LocalTrials::screen(challenger, built, bar);
    s.race = timing(incumbent_, challenger);
    return s;
  }
  bool pace(const std::vector<Step>&, const BuildResult&) override { return false; }  // all race the incumbent
  PairTrial pair(const std::vector<Step>& challenger, const BuildResult& built, const Placebos& placebos, Random& random) override {
    return given(LocalTrials::pair(challenger, built, placebos, random), incumbent_, challenger);
  }
  Profile profile(const Plan& plan) override {
    Profile p = LocalTrials::profile(plan);
    for (StepProfile& s : p.steps) s.seconds = seconds_of({plan.steps[static_cast<size_t>(s.step)]});
    p.seconds = seconds_of(plan.steps);
    return p;
  }
  PairTrial model_pair(const Plan& before, const Plan& after, Distribution inputs, Random& random) override {
    return given(LocalTrials::model_pair(before, after, inputs, random), before.steps, after.steps);
  }

 private:
  static Timing timing(const std::vector<Step>& a, const std::vector<Step>& b) {
    Timing t{seconds_of(a), seconds_of(b), std::log(seconds_of(a) / seconds_of(b))};
    t.worked_a = t.seconds_a, t.worked_b = t.seconds_b;
    return t;
  }
  static PairTrial given(PairTrial p, const std::vector<Step>& a, const std::vector<Step>& b) {
    p.pair.timing = timing(a, b);
    p.pair.dropped.clear();
    p.below_floor.clear();
    return p;
  }

  std::vector<Step> incumbent_;
  double rested_ = 0;
};

TEST_F(SecondBackend, AWinIsProvenKeptPassedByTheGateAndInTheHeadline) {
  const Graph graph = perceptron();
  SessionIdentity identity;
  identity.model = "builtin:perceptron";
  const auto session = Session::create(folder_ / "session.amdahl", identity);
  TuneOptions options;
  options.experiments = 12;
  options.seconds = 3600;  // most of them between a proof and its confirmation, which rest() skips
  TrialOptions trial_options;
  GivenTimes trials(graph, backend_, trial_options, folder_);
  TuneObserver observer;
  std::atomic<bool> stop = false;
  const TuneContext context{graph, *session, trials, {find_rewrite("unroll_k")}, options, observer, stop};
  finish_session(context, Tuner(context).run());

  std::vector<std::string> ended;
  for (const Experiment& e : session->experiments()) ended.push_back(fmt::format("{} at {}: {}", name_of(e.outcome), e.stage, e.reason));
  const bool kept = std::any_of(ended.begin(), ended.end(), [](const std::string& e) { return e.starts_with(name_of(Outcome::kKept)); });
  EXPECT_TRUE(kept) << fmt::format("{}", fmt::join(ended, "\n"));
  const std::vector<LedgerEntry> gates = session->ledger();
  ASSERT_FALSE(gates.empty());
  EXPECT_TRUE(gates.back().kept) << gates.back().reason;
  EXPECT_GT(gates.back().error, 0) << "float64 was not asked";
  ASSERT_TRUE(session->headline());
  EXPECT_NEAR(session->headline()->gain.log,
              std::log(GivenTimes::seconds_of(starter_plan(graph, 1, backend_.target()).steps) / GivenTimes::seconds_of(gated_plan(*session).steps)), 1e-9);
  EXPECT_GT(session->headline()->gain.lo, 0);
}

TEST_F(SecondBackend, RefusesWhatItHasNoKernelFor) {
  ExampleGraph g("triangle", 17);
  const Graph graph = g.finish({g.node("Trilu", {g.input({8, 8})})});
  try {
    starter_plan(graph, 1, backend_.target());
    FAIL() << "it has no such kernel";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("the backend distant has no kernel of kind 'plain'"), std::string::npos) << error.what();
  }
}

TEST_F(SecondBackend, IsOfferedNothingThatItCannotCompute) {
  const Graph graph = perceptron();
  const Plan plan = starter_plan(graph, 1, backend_.target());
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  const RewriteContext context = RewriteContext::of(graph, plan, backend_.target(), uses, storage);
  int offers = 0;
  for (const Rewrite* rewrite : playbook())
    for (size_t s = 0; s < plan.steps.size(); ++s)
      if (const auto match = rewrite->match(context, static_cast<int>(s), nullptr)) {
        ++offers;
        EXPECT_NE(rewrite->backend(), "cpu") << rewrite->name();
        for (const Step& step : match->replacement) EXPECT_TRUE(backend_.target().computes(step.variant.problem.kind)) << rewrite->name();
      }
  EXPECT_GT(offers, 2);
}

}  // namespace
}  // namespace amdahl
