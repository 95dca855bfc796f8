#include "tests/starter_kernels/channels_last.h"

#include <gtest/gtest.h>

#include "tests/starter_kernels/absent_card.h"

namespace amdahl {
namespace {

const std::string kLast(kChannelsLast);

using testing::ampere;
using testing::hopper;

Problem problem_of(std::string_view kind, const Graph& graph) { return testing::fused(kernel_kind(kind), graph); }

std::string refusal(const Problem& problem, const Knobs& others = {}) {
  const SearchSpace space = hopper().space(problem);
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

// What a convolution over channels last begins with, or -1 where the card has no form of it.
int64_t form_of(const Graph& graph, const Target& target = hopper()) {
  const SearchSpace space = target.space(testing::on_channels_last(problem_of(kind::kConv, graph)).value());
  return space.refuse(space.starters()).empty() ? space.starters().at("FORM") : -1;
}

TEST(ChannelsLastOnCards, WindowsAreCopiedWhereATensorMapSaysThem) {
  const auto form = [](const Shape& x, const testing::Taps& taps, DType type = DType::kF16) { return form_of(testing::convolution(type, x, 24, taps)); };
  for (const Graph& graph : testing::convolutions_of_windows()) {
    EXPECT_EQ(form_of(graph), 4) << graph.name;
    EXPECT_EQ(form_of(graph, ampere()), -1) << graph.name;
  }
  EXPECT_EQ(form({1, 16, 40, 40}, {{3, 3}, {8, 8}}), 4);
  EXPECT_EQ(form({1, 16, 40, 40}, {{3, 3}, {9, 8}}), -1) << "steps";
  EXPECT_EQ(form({1, 16, 5, 5}, {{3, 3}, {1, 1}, {128, 128, 0, 0}}), 4);
  EXPECT_EQ(form({1, 16, 5, 5}, {{3, 3}, {1, 1}, {129, 0, 0, 0}}), -1) << "far from the image";
  EXPECT_EQ(form({1, 16, 5, 300}, {{1, 2}, {1, 1}, {0, 0, 0, 0}, {1, 127}}), 4);
  EXPECT_EQ(form({1, 16, 5, 300}, {{1, 2}, {1, 1}, {0, 0, 0, 0}, {1, 131}}), -1) << "the last window begins far before the image's end";
  EXPECT_EQ(form({1, 20, 5, 5}, {{3, 3}}), -1) << "channels";
  EXPECT_EQ(form({1, 16, 5, 5}, {{3, 3}}, DType::kF32), -1);
}

TEST(ChannelsLastOnCards, ImagesAreReadRowMajor) {
  for (const Graph& graph : testing::convolutions_of_images()) EXPECT_EQ(form_of(graph, ampere()), 6) << graph.name;
  EXPECT_EQ(form_of(testing::convolution(DType::kF32, {1, 3, 20, 20}, 24, {{3, 3}})), -1);
  Problem last = problem_of(kind::kConv, testing::convolutions_of_images().at(0));
  set_formats(last, {kLast, "", "", "", ""}, {kLast});
  EXPECT_NE(refusal(last), "") << "3 channels are no line";
}

// Large windows leave room for few rows, then for few channels; those that leave none have no form.
TEST(ChannelsLastOnCards, StartersOfImagesFitSharedMemory) {
  const auto knobs = [](int64_t taps, int64_t stride) {
    const Graph graph = testing::convolution(DType::kF16, {1, 3, 224, 224}, 768, {{taps, taps}, {stride, stride}});
    return hopper().space(testing::on_channels_last(problem_of(kind::kConv, graph)).value()).starters();
  };
  EXPECT_EQ(knobs(3, 2).at("TILE_O"), 64);
  EXPECT_EQ(knobs(3, 2).at("IMAGE_WARPS"), 8);
  EXPECT_LT(knobs(16, 16).at("IMAGE_WARPS"), 8);
  EXPECT_EQ(form_of(testing::convolution(DType::kF16, {1, 3, 224, 224}, 768, {{16, 16}, {16, 16}})), 6);
  EXPECT_EQ(form_of(testing::convolution(DType::kF16, {1, 3, 224, 224}, 768, {{64, 64}, {64, 64}})), -1);
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
  EXPECT_EQ(hopper().space(problem).find("PIECE")->starter, 8) << "24 channels of half floats";
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
    const Knobs knobs = hopper().space(testing::on_channels_last(of_square(layer.channels, layer.size, 3, layer.stride)).value()).starters();
    const int64_t out = (layer.size + layer.stride - 1) / layer.stride, tn = knobs.at("TN");
    const int64_t threads = out * ((out + tn - 1) / tn) * layer.channels / 8, blocks = (threads + knobs.at("THREADS") - 1) / knobs.at("THREADS");
    EXPECT_GE(blocks, 110) << layer.channels << " channels";
    EXPECT_LE(threads, 132 * 256) << layer.channels << " channels";
  }
}

}  // namespace
}  // namespace amdahl
