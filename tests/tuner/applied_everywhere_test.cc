// What a rewrite makes of a whole model, before it is offered anywhere.

#include "tuner/search/applied_everywhere.h"

#include <gtest/gtest.h>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

TEST(AppliedEverywhere, HalvesEveryProductThatIsLargeEnough) {
  ExampleGraph g("three products");
  const ValueId x = g.input({64, 256}), y = g.node("MatMul", {x, g.normal({256, 512}, 1)}), z = g.node("MatMul", {y, g.normal({512, 256}, 2)});
  const Graph graph = g.finish({g.node("MatMul", {z, g.normal({256, 64}, 3)})});  // 64 columns are too few
  Target target = cpu_target();
  target.device.features = {"avx2", "avx512_bf16", "avx512f", "fma"};  // sorted
  const auto declared = [&](const std::vector<const Rewrite*>& rewrites) {
    std::vector<std::string> all;
    for (const Step& s : applied_everywhere(graph, starter_plan(graph, 1, cpu_target()), rewrites, target).steps)
      all.push_back(declared_algorithm(s.variant.problem));
    return all;
  };
  using Names = std::vector<std::string>;
  const Rewrite *bf16 = find_rewrite("multiply_in_bf16"), *twice = find_rewrite("use_strassen_twice_in_bf16");
  EXPECT_EQ(declared({bf16}), (Names{"bf16", "bf16", "bf16"}));
  EXPECT_EQ(declared({bf16, twice}), (Names{"bf16_strassen2", "bf16_strassen2", "bf16"}));
  EXPECT_EQ(declared({twice}), (Names{"", "", ""})) << "nothing is in bfloat16";
  EXPECT_EQ(declared({find_rewrite("use_strassen"), bf16}), (Names{"bf16", "bf16", "bf16"})) << "sums of fp32 are given up for it";
}

}  // namespace
}  // namespace amdahl
