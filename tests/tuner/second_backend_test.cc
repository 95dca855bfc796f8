// The whole loop on a second backend: kernels, toolchain, memory, workers and ceilings of the distant device (tests/distant). What lies
// far away is this machine's own memory and threads, kept apart: the device stands on the processor's worker device, arena and sandbox.

#include <gtest/gtest.h>
#include <unistd.h>

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
