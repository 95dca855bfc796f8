#include "tests/starter_kernels/channels_last.h"

#include <gtest/gtest.h>

#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

const std::string kLast(kChannelsLast);

Target card() { return testing::absent_card({"sm_80", "sm_90", "sm_90a"}); }

Problem problem_of(std::string_view kind, const Graph& graph) { return testing::fused(kernel_kind(kind), graph); }

std::string refusal(const Problem& problem, const Knobs& others = {}) {
  const SearchSpace space = card().space(problem);
  Knobs knobs = space.starters();
  for (const auto& [name, value] : others) knobs[name] = value;
  return space.refuse(knobs);
}

Problem of_square(int64_t channels, int64_t size, int64_t taps, int64_t stride) {
  return problem_of(kind::kConv, testing::depthwise(DType::kF16, {1, channels, size, size}, 1, taps, stride, taps / 2, "Clip"));
}

TEST(ChannelsLastOnCards, AFormIsOfOneFormat) {
  const Problem plain = of_square(32, 14, 3, 1), last = testing::on_channels_last(plain).value();
  EXPECT_EQ(refusal(plain), "");
  EXPECT_EQ(refusal(last), "");
  EXPECT_NE(refusal(plain, {{"FORM", 5}}), "");
  for (int64_t form : {0, 1, 2, 3}) EXPECT_NE(refusal(last, {{"FORM", form}}), "") << form;
  Problem result_row_major = last, given_weights = last, weights_last = last;
  set_formats(result_row_major, {kLast, "", "", "", ""}, {""});
  EXPECT_NE(refusal(result_row_major), "");
  given_weights.in[1].constant = false;
  EXPECT_NE(refusal(given_weights), "");
  set_formats(weights_last, {kLast, kLast, "", "", ""}, {kLast});
  EXPECT_NE(refusal(weights_last), "");
  EXPECT_NE(refusal(testing::on_channels_last(of_square(16, 20, 9, 1)).value()), "") << "81 taps";
}

TEST(ChannelsLastOnCards, PoolingReadsAndWritesThem) {
  const Graph windows = testing::pool_graphs().at(0), global = testing::pool_graphs().at(5);
  for (const Graph& graph : {windows, global}) EXPECT_EQ(refusal(testing::on_channels_last(problem_of(kind::kPool, graph)).value()), "");
  EXPECT_EQ(refusal(testing::on_channels_last(problem_of(kind::kPool, global), true).value()), "");
  EXPECT_NE(refusal(testing::on_channels_last(problem_of(kind::kPool, windows), true).value()), "");
  Problem made_last = problem_of(kind::kPool, windows);
  set_formats(made_last, {""}, {kLast});
  EXPECT_NE(refusal(made_last), "");
}

TEST(ChannelsLastOnCards, PixelsHaveOneStride) {
  Problem problem = testing::on_channels_last(problem_of(kind::kPointwise, testing::pointwise_graphs().at(1))).value();
  EXPECT_EQ(refusal(problem), "");
  EXPECT_EQ(card().space(problem).find("PIECE")->starter, 8) << "24 channels of half floats";
  problem.in[1].strides = {0, 0, 1, 0};  // a number a row
  EXPECT_NE(refusal(problem), "");
  set_formats(problem, {"nchw8c", ""}, {"nchw8c"});
  EXPECT_NE(refusal(problem), "");
  EXPECT_NE(refusal(testing::reorder_problem(DType::kF32, {1, 16, 4, 4}, "", "nchw16c")), "");
}

// MobileNetV2's layers at batch 1: nearly every multiprocessor has a block, and none has more than fit it at once.
TEST(ChannelsLastOnCards, DepthwiseStartersFillTheCard) {
  struct Layer {
    int64_t channels, size, stride;
  };
  for (const Layer& layer : std::vector<Layer>{
           {32, 112, 1}, {96, 112, 2}, {144, 56, 1}, {144, 56, 2}, {192, 28, 1}, {192, 28, 2}, {384, 14, 1}, {576, 14, 1}, {576, 14, 2}, {960, 7, 1}}) {
    const Knobs knobs = card().space(testing::on_channels_last(of_square(layer.channels, layer.size, 3, layer.stride)).value()).starters();
    const int64_t out = (layer.size + layer.stride - 1) / layer.stride, tn = knobs.at("TN");
    const int64_t threads = out * ((out + tn - 1) / tn) * layer.channels / 8, blocks = (threads + knobs.at("THREADS") - 1) / knobs.at("THREADS");
    EXPECT_GE(blocks, 110) << layer.channels << " channels";
    EXPECT_LE(threads, 132 * 256) << layer.channels << " channels";
  }
}

}  // namespace
}  // namespace amdahl
