// One shape out of several is the model at that shape.

#include "plan/bucket_part.h"

#include <gtest/gtest.h>

#include "graph/models/buckets.h"
#include "graph/models/load_model.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "tests/graph/same_meaning.h"

namespace amdahl {
namespace {

LoadOptions of_seq(int64_t seq) {
  LoadOptions options;
  options.seq = seq;
  return options;
}

TEST(BucketPart, IsTheModelAtThatShape) {
  for (const char* model : {"builtin:gpt2-mini", "builtin:bert-mini", "builtin:llama-mini"}) {
    const Graph both = load_buckets(model, {{"8", of_seq(8)}, {"12", of_seq(12)}});
    const Plan plan = starter_plan(both, 1, cpu_target());
    size_t steps = 0;
    for (size_t b : {0, 1}) {
      const BucketPart part = bucket_part(both, plan, b);
      const Graph alone = load_model(model, of_seq(b == 0 ? 8 : 12));
      testing::expect_same_meaning(part.graph, alone);
      EXPECT_EQ(check(part.graph, part.plan), "") << model;
      EXPECT_EQ(part.plan.steps.size(), starter_plan(alone, 1, cpu_target()).steps.size());
      EXPECT_EQ(part.plan.threads, 1);
      steps += part.plan.steps.size();
    }
    EXPECT_EQ(steps, plan.steps.size());
  }
}

TEST(BucketPart, OfAModelOfOneShapeIsAllOfIt) {
  const Graph graph = load_model("builtin:gpt2-mini", {});
  const Plan plan = starter_plan(graph, 2, cpu_target());
  const BucketPart part = bucket_part(graph, plan, 0);
  EXPECT_EQ(fingerprint(part.graph), fingerprint(graph));
  EXPECT_EQ(part.plan.steps.size(), plan.steps.size());
}

}  // namespace
}  // namespace amdahl
