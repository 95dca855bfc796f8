// How many processes the pairs of a proof take: two a pair, or two for several pairs that are bound anew.

#include "tuner/measurement/fresh_pairs.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/trials/window_trials.h"

namespace amdahl {
namespace {

// The processor's workers, counted as they begin.
class CountingBackend : public WorkerBackend {
 public:
  explicit CountingBackend(int placements) : placements_(placements) {}
  std::string_view name() const override { return cpu_worker_backend().name(); }
  int placements_a_process() const override { return placements_; }
  std::string worker_program() const override {
    ++begun;
    return cpu_worker_backend().worker_program();
  }
  std::unique_ptr<Arena> make_arena(const char* name) const override { return cpu_worker_backend().make_arena(name); }
  std::unique_ptr<WorkerDevice> make_device() const override { return cpu_worker_backend().make_device(); }
  std::unique_ptr<Confinement> make_confinement() const override { return cpu_worker_backend().make_confinement(); }

  mutable int begun = 0;

 private:
  int placements_;
};

// The starter of an addition against itself.
class Pairs {
 public:
  explicit Pairs(const WorkerBackend& backend) : graph_(addition()), builder_(std::make_shared<const CpuToolchain>(default_cache_dir()), 1, nullptr) {
    const Plan plan = starter_plan(graph_, 1, cpu_target());
    Window all;
    all.steps = {0};
    task_.signature = signature(graph_, plan, all);
    task_.io = io_of(graph_, plan, all);
    task_.incumbent = plan.steps;
    TrialOptions options;
    options.worker.backend = &backend;
    options.worker.memory_bytes = int64_t{1} << 30;
    options.race_seconds = options.pair_seconds = 0.004;
    trials_ = std::make_unique<WindowTrials>(graph_, builder_, options);
    EXPECT_EQ(trials_->enter(task_), "");
  }
  // The failure of a pair, or "".
  std::string pair() {
    const PairTrial trial = trials_->pair(task_.incumbent, builder_.build({task_.incumbent})[0], {}, random_);
    EXPECT_GT(trial.pair.timing.seconds_b, 0);
    return trial.failure ? trial.failure->reason : "";
  }
  void race() { EXPECT_FALSE(trials_->screen(task_.incumbent, builder_.build({task_.incumbent})[0], 0).failure); }

 private:
  static Graph addition() {
    ExampleGraph g("addition");
    return g.finish({g.node("Add", {g.input({64, 64}), g.input({64, 64})})});
  }

  Graph graph_;
  Builder builder_;
  WindowTask task_;
  Random random_{1};
  std::unique_ptr<WindowTrials> trials_;
};

// What began between two looks.
int begun_since(const CountingBackend& backend, int& before) { return backend.begun - std::exchange(before, backend.begun); }

TEST(FreshPairs, TakeTwoProcessesEachOnACpu) {
  EXPECT_EQ(cpu_worker_backend().placements_a_process(), 1);
  const CountingBackend backend(1);
  Pairs pairs(backend);
  EXPECT_EQ(pairs.pair(), "");  // the first begins one more, which says what the challenger's outputs are
  int before = backend.begun;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pairs.pair(), "");
  EXPECT_EQ(begun_since(backend, before), 6);
}

TEST(FreshPairs, ShareTwoProcessesWherePlacesAreDrawnAnewWithinOne) {
  const CountingBackend backend(3);
  Pairs pairs(backend);
  EXPECT_EQ(pairs.pair(), "");
  int before = backend.begun;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(pairs.pair(), "");
  EXPECT_EQ(begun_since(backend, before), 0) << "the second and third pair of two processes";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pairs.pair(), "");
  EXPECT_EQ(begun_since(backend, before), 2) << "three more";
  EXPECT_EQ(pairs.pair(), "");
  pairs.race();  // other workers need their memory
  before = backend.begun;
  EXPECT_EQ(pairs.pair(), "");
  EXPECT_EQ(begun_since(backend, before), 2) << "after a race they begin anew";
}

}  // namespace
}  // namespace amdahl
