// Starters on processors that this machine does not have: their knobs are what their own spaces allow, and there is a text for them. (On 16 registers a
// convolution of bytes once began with a tile of 17, which no machine with VNNI shows.)

#include <gtest/gtest.h>

#include "base/machine.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/examples/conv_examples.h"
#include "tests/plan/kernel_bench.h"

namespace amdahl {
namespace {

struct Processor {
  const char* name;
  std::vector<std::string> features;
};

const std::vector<Processor> kProcessors{
    {"AVX2", {"avx2", "fma"}},
    {"AVX2 with VNNI", {"avx2", "avx_vnni", "fma"}},
    {"AVX-512", {"avx2", "avx512bw", "avx512dq", "avx512f", "avx512vl", "fma"}},
    {"AVX-512 with VNNI and bfloat16", {"avx2", "avx512_bf16", "avx512_vnni", "avx512bw", "avx512dq", "avx512f", "avx512vl", "fma"}},
    {"AMX", {"amx_bf16", "amx_int8", "amx_tile", "avx2", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx512bw", "avx512dq", "avx512f", "avx512vl", "fma"}},
};

// Of sizes that networks have: where examples of tests are so small that a tile shrinks to them, these do not let it.
std::vector<Graph> of_full_size() {
  const Attribute ones = std::vector<int64_t>{1, 1, 1, 1};
  return {convolution_of_bytes("3x3 of bytes", {1, 64, 56, 56}, {64, 64, 3, 3}, {{"pads", ones}}, true),
          convolution_of_bytes("1x1 of bytes", {1, 256, 14, 14}, {1024, 256, 1, 1}, {}, true),
          convolution_of_bytes("depthwise, of bytes", {1, 96, 112, 112}, {96, 1, 3, 3}, {{"pads", ones}, {"group", int64_t{96}}}, true)};
}

class AbsentProcessor : public ::testing::TestWithParam<Processor> {};

void expect_starters_allowed(const std::vector<Graph>& graphs, const Target& target) {
  for (const Graph& graph : graphs)
    for (int threads : {1, 2, 16})
      for (const Step& step : starter_plan(graph, threads, target).steps) {
        const Variant& v = step.variant;
        const SearchSpace space = target.space(v.problem);
        EXPECT_EQ(space.refuse ? space.refuse(v.knobs) : "", "") << graph.name << ", " << v.problem.kind << ", " << threads << " threads";
        for (const Knob& knob : space.knobs)
          EXPECT_NE(std::find(knob.values.begin(), knob.values.end(), v.knobs.at(knob.name)), knob.values.end()) << graph.name << ": " << knob.name;
        EXPECT_FALSE(target.source(v).empty());
      }
}

TEST_P(AbsentProcessor, AllowsItsStarters) {
  DeviceInfo device = this_machine();
  device.name = "a processor that is not here";
  device.features = GetParam().features;
  const Target target = cpu_target(device);
  for (const KernelKind* kind : kernel_kinds()) expect_starters_allowed(kind->examples(), target);
  expect_starters_allowed(of_full_size(), target);
}

std::string name_of(const ::testing::TestParamInfo<Processor>& info) {
  std::string name;
  for (const char c : std::string(info.param.name))
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(Processors, AbsentProcessor, ::testing::ValuesIn(kProcessors), name_of);

}  // namespace
}  // namespace amdahl
