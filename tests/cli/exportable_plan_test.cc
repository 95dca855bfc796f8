// A text that is not this program's leaves a session as it was judged there, or not at all.

#include "cli/exportable_plan.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tests/graph/temporary_folder.h"
#include "tuner/trials/builder.h"

namespace amdahl {
namespace {

class ExportablePlan : public ::testing::Test {
 protected:
  void SetUp() override {
    global_.cache_dir = cache_.str();
    ExampleGraph g("matmul");
    const ValueId x = g.input({4, 8});
    plan_ = starter_plan(g.finish({g.node("MatMul", {x, g.normal({8, 16}, 1)})}), 2, cpu_target());
    Variant& v = plan_.steps[0].variant;
    v.source_override = "#ifdef AMDAHL_KERNEL\n#error in an export\n#endif\n" + cpu_target().source(v);
  }

  // A session that proved the plan's only step.
  MemoryStore proven(const std::function<void(Experiment&)>& change = [](Experiment&) {}) const {
    Experiment e;
    e.id = 1;
    e.outcome = Outcome::kKept;
    e.replacement = plan_.steps;
    e.prove_log_ratios = e.confirm_log_ratios = {0.1};
    e.object_code = Builder(std::make_shared<const CpuToolchain>(cache_.str()), 1, nullptr).build({plan_.steps})[0].code;
    change(e);
    LedgerEntry entry;
    entry.id = 1;
    entry.experiments = {1};
    entry.kept = true;
    MemoryStore store;
    store.commit({.experiments = {e}, .ledger = {entry}});
    return store;
  }

  void expect_refused(const MemoryStore& store, const std::string& why) const {
    try {
      exportable_plan(store, plan_, global_);
      ADD_FAILURE() << "exported";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kNotVerified);
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  }

  testing::TemporaryFolder cache_;
  GlobalOptions global_;
  Plan plan_;
};

TEST_F(ExportablePlan, HoldsTheTextAsItWasJudged) {
  const Plan exported = exportable_plan(proven(), plan_, global_);
  const std::string& text = exported.steps[0].variant.source_override;
  EXPECT_NE(text, "");
  EXPECT_EQ(text.find("AMDAHL_KERNEL"), std::string::npos);
  EXPECT_NE(text.find("amdahl_run"), std::string::npos);
}

TEST_F(ExportablePlan, RefusesWhatWasNotProven) { expect_refused(MemoryStore(), "has not proven"); }

TEST_F(ExportablePlan, RefusesOtherMachineCode) {
  expect_refused(proven([](Experiment& e) { e.object_code = "another"; }), "other machine code of experiment 1");
}

TEST_F(ExportablePlan, LeavesOurOwnTextsAlone) {
  plan_.steps[0].variant.source_override.clear();
  const Plan exported = exportable_plan(MemoryStore(), plan_, global_);
  EXPECT_TRUE(Json(exported.steps) == Json(plan_.steps));
}

// Kernels for a card leave as the code that was judged; their text is for reading.
class CardBackend : public Backend {
 public:
  const Target& target() const override { return target_; }
  std::shared_ptr<const Toolchain> make_toolchain(const std::string& cache_dir) const override {
    return std::make_shared<const CudaToolchain>(cache_dir, target_);
  }
  const WorkerBackend& workers() const override { throw std::logic_error("nothing is run"); }
  const CeilingProbe& probe() const override { throw std::logic_error("nothing is timed"); }

 private:
  const Target target_ = cuda_target({.name = "a card that is not here", .features = {"sm_80"}});
};

TEST_F(ExportablePlan, HoldsTheTextOfACardsKernelAsItStands) {
  const CardBackend card;
  std::shared_ptr<const Toolchain> toolchain;
  try {
    toolchain = card.make_toolchain(cache_.str());
  } catch (const Error& error) {
    GTEST_SKIP() << "this test compiles kernels: " << error.what();
  }
  Variant& v = plan_.steps[0].variant;
  v.source_override.clear();
  v.knobs = card.target().space(v.problem).starters();
  v.source_override = "// from elsewhere\n" + card.target().source(v);
  global_.backend = &card;
  const auto built_for_card = [&](Experiment& e) { e.object_code = Builder(toolchain, 1, nullptr).build({plan_.steps})[0].code; };
  EXPECT_EQ(exportable_plan(proven(built_for_card), plan_, global_).steps[0].variant.source_override, v.source_override);
  expect_refused(proven([](Experiment& e) { e.object_code = "another"; }), "other machine code of experiment 1");
}

}  // namespace
}  // namespace amdahl
