// Who is to blame when the outputs of a timed call differ: what float64 says, and nobody where it says so.

#include <gtest/gtest.h>

#include <cmath>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/trials/model_trials.h"

namespace amdahl {
namespace {

// A sum and a difference of the same inputs: every element differs in every call.
class SumAgainstDifference {
 public:
  SumAgainstDifference()
      : builder_(std::make_shared<const CpuToolchain>(default_cache_dir()), 1, nullptr),
        graph_(of("Add")),
        constants_(graph_),
        input_source_({{}, {}}, cpu_worker_backend().make_arena("inputs")),
        programs_{program_of(graph_), program_of(of("Sub"))} {
    settings_.worker.backend = &cpu_worker_backend();
    settings_.worker.memory_bytes = int64_t{1} << 30;
    settings_.input_source = &input_source_;
    settings_.constants = &constants_;
    settings_.segments = {.calls = 1, .blocks = 4};
  }

  std::optional<Disqualification> race(Referee referee) {
    settings_.contents.referee = std::move(referee);
    return measure_pair({{&programs_[0]}, {}}, {{&programs_[1]}, {}}, settings_, random_).disqualified;
  }

 private:
  static Graph of(const char* op) {
    ExampleGraph g("two_inputs");
    return g.finish({g.node(op, {g.input({64, 64}), g.input({64, 64})})});
  }
  Program program_of(const Graph& graph) {
    const Plan plan = starter_plan(graph, 1, cpu_target());
    const BuildResult built = builder_.build({plan.steps})[0];
    Blob blob;
    return model_program(graph, plan, built.libraries, &blob);
  }

  Builder builder_;
  Graph graph_;
  ConstantsFile constants_;
  InputSource input_source_;
  Program programs_[2];
  PairSettings settings_;
  Random random_{1};
};

TEST(Referee, IsToldTheInputsAndNamesWhoIsWrong) {
  SumAgainstDifference arms;
  const auto challenger = arms.race([](RemoteProgram& incumbent, RemoteProgram& other, size_t slot) {
    const std::vector<Tensor> in = incumbent.inputs(slot);
    const std::vector<std::byte> sum = incumbent.outputs(slot), difference = other.outputs(slot);
    for (size_t i : {size_t{0}, size_t{100}}) {
      const float x = in.at(0).as<float>()[i], y = in.at(1).as<float>()[i];
      EXPECT_EQ(reinterpret_cast<const float*>(sum.data())[i], x + y);
      EXPECT_EQ(reinterpret_cast<const float*>(difference.data())[i], x - y);
    }
    return AtFault::kChallenger;
  });
  ASSERT_TRUE(challenger);
  EXPECT_TRUE(challenger->challenger);
  EXPECT_EQ(challenger->code, "stale");
  const auto incumbent = arms.race([](RemoteProgram&, RemoteProgram&, size_t) { return AtFault::kIncumbent; });
  ASSERT_TRUE(incumbent);
  EXPECT_FALSE(incumbent->challenger);
}

TEST(Referee, IsNotAskedAgainOfAsLargeADifferenceThatIsNobodysFault) {
  SumAgainstDifference arms;
  int asked = 0;
  EXPECT_FALSE(arms.race([&](RemoteProgram&, RemoteProgram&, size_t) {
    ++asked;
    return AtFault::kNobody;
  }));
  EXPECT_EQ(asked, 1);
}

TEST(Referee, IsMissedByNobodyButTheChallenger) {
  SumAgainstDifference arms;
  const auto found = arms.race({});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->challenger);
}

// Old outputs are off by 1.4 of their norm, missing ones by 1.
TEST(OldOutputs, AreThoseFarFromFloat64BesideAPlanThatIsNot) {
  constexpr double kTolerance = 0.06;  // of half precision
  EXPECT_EQ(who_gave_old_outputs(0.001, 1.41, kTolerance), AtFault::kChallenger);
  EXPECT_EQ(who_gave_old_outputs(0.4, 1.0, kTolerance), AtFault::kChallenger);
  EXPECT_EQ(who_gave_old_outputs(0.001, 0.1, kTolerance), AtFault::kChallenger) << "less exact by far is not what the gate let pass";
  EXPECT_EQ(who_gave_old_outputs(0.001, INFINITY, kTolerance), AtFault::kChallenger);
  EXPECT_EQ(who_gave_old_outputs(1.41, 0.001, kTolerance), AtFault::kIncumbent);
}

TEST(OldOutputs, AreNotThoseThatRoundingsMadeAsFar) {
  for (const auto& [before, after] : {std::pair{0.5985, 0.6146}, {0.3989, 0.4250}, {0.2870, 0.0421}, {0.1053, 0.1864}, {0.4777, 0.0329}, {0.001, 0.05}})
    EXPECT_EQ(who_gave_old_outputs(before, after, 0.06), AtFault::kNobody) << before << ' ' << after;
  EXPECT_EQ(who_gave_old_outputs(INFINITY, 0.1, 0.06), AtFault::kNobody) << "beyond the type's range";
  EXPECT_EQ(who_gave_old_outputs(INFINITY, INFINITY, 0.06), AtFault::kNobody);
}

}  // namespace
}  // namespace amdahl
