#pragma once
// MobileNetV2's block on channel blocks, and what a rewrite makes of it.

#include <gtest/gtest.h>

#include "playbook/playbook.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl::testing {

// 1x1 to 96 channels, depthwise, 1x1 to 32; `read_twice`: what the depthwise convolution writes leaves the model too.
inline Graph inverted_bottleneck(bool read_twice) {
  ExampleGraph g("inverted bottleneck");
  const ExampleGraph::Attributes padded{{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", int64_t{96}}};
  const ValueId wide = g.node("Conv", {g.input({1, 32, 14, 14}), g.normal({96, 32, 1, 1}, 1, 0, 0.2)});
  const ValueId deep = g.node("Conv", {wide, g.normal({96, 1, 3, 3}, 2, 0, 0.3)}, padded);
  const ValueId narrow = g.node("Conv", {deep, g.normal({32, 96, 1, 1}, 3, 0, 0.1)});
  return g.finish(read_twice ? std::vector<ValueId>{narrow, deep} : std::vector<ValueId>{narrow});
}

class BlockedBottleneck : public ::testing::Test {
 protected:
  void carry(bool read_twice, int threads) {
    graph_ = inverted_bottleneck(read_twice);
    plan_ = starter_plan(graph_, threads, cpu_target());
    const auto match = match_of(carry_blocked_layout(), 0);
    ASSERT_TRUE(match) << refusal_;
    plan_ = replace(graph_, plan_, match->window, match->replacement);
    convs_.clear();
    for (size_t s = 0; s < plan_.steps.size(); ++s)
      if (plan_.steps[s].variant.problem.kind == "conv") convs_.push_back(static_cast<int>(s));
    ASSERT_EQ(convs_.size(), 3u);
  }
  std::optional<Match> match_of(const Rewrite* rewrite, int anchor) {
    const Uses uses = uses_of(graph_);
    const std::vector<ValueId> storage = storage_of(graph_);
    return rewrite->match(RewriteContext::of(graph_, plan_, target_, uses, storage), anchor, &refusal_);
  }

  Target target_ = cpu_target();
  Graph graph_;
  Plan plan_;
  std::vector<int> convs_;
  std::string refusal_;
};

}  // namespace amdahl::testing
