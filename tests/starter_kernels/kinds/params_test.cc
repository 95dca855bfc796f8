// Parameters as structs: sessions hold them as text, so that what is written here is frozen.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "starter_kernels/kinds/attention.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/cross_entropy.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/fused_mlp.h"
#include "starter_kernels/kinds/inverted_residual.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/kinds/movement.h"
#include "starter_kernels/kinds/normalization.h"
#include "starter_kernels/kinds/plain.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/pool.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/recurrence.h"
#include "starter_kernels/kinds/reduce.h"
#include "starter_kernels/kinds/rotary_embedding.h"
#include "starter_kernels/kinds/softmax.h"

namespace amdahl {
namespace {

std::string text_of(const Problem& problem) { return Json(problem).at("params").dump(); }

template <class Params>
void rewrite(const Problem& from, Problem& to) {
  Params::of(from).write(to);
}

// That the parameters are written as `text`, and that what is read of it is written so again.
template <class Params>
void expect_text(const Params& params, const std::string& text) {
  Problem written, again;
  params.write(written);
  EXPECT_EQ(text_of(written), text);
  rewrite<Params>(written, again);
  EXPECT_EQ(text_of(again), text);
}

PointwiseProgram relu() { return {1, {DType::kF32}, {{"relu", {0}, DType::kF32}}, {1}}; }
const std::string kRelu = R"({"input_types":["f32"],"inputs":1,"ops":[{"args":[0],"op":"relu","type":"f32"}],"results":[1]})";

TEST(Params, WhatHasItsDefaultIsNotWritten) {
  expect_text(AttentionParams{}, R"({"scale":1.0})");
  expect_text(ConvParams{{{3}, {1}, {1}, {0, 0}}}, R"({"dilations":[1],"group":1,"kernel":[3],"pads":[0,0],"strides":[1]})");
  expect_text(CrossEntropyParams{}, R"({"reduction":"mean"})");
  expect_text(FusedMlpParams{relu()}, R"({"activation":)" + kRelu + "}");
  expect_text(MatmulParams{}, "{}");
  expect_text(MovementParams{}, "{}");
  expect_text(NormalizationParams{}, R"({"axis":0,"epsilon":0.0})");
  expect_text(PlainParams{"TopK", "topk"}, R"({"constants":{},"op":"TopK","source":"topk"})");
  expect_text(PointwiseParams{relu()}, R"({"program":)" + kRelu + "}");
  expect_text(PoolParams{{{3}, {1}, {1}, {0, 0}}}, R"({"dilations":[1],"kernel":[3],"max":false,"pads":[0,0],"strides":[1]})");
  expect_text(RecurrenceParams{RecurrenceParams::Cell::kRnn, RecurrenceParams::Direction::kForward, {{"tanh"}}},
              R"({"activations":[["tanh",0.0,0.0]],"cell":"rnn"})");
  expect_text(ReduceParams{"sum", {0, 2}}, R"({"axes":[0,2],"op":"sum"})");
  expect_text(RotaryEmbeddingParams{64}, R"({"rotated":64})");
  expect_text(SoftmaxParams{2}, R"({"axis":2})");
}

TEST(Params, WhatDiffersIsWritten) {
  expect_text(
      AttentionParams{0.125, true, 3, true, true, -1e9, true, true},
      R"({"appended":true,"causal":true,"causal_offset":3,"hidden_added":true,"masked_value":-1000000000.0,"scale":0.125,"zero_hidden_rows":true,"zero_nan_weights":true})");
  expect_text(ConvParams{{{3}, {2}, {1}, {1, 0}}, 4, true}, R"({"dilations":[1],"group":4,"kernel":[3],"pads":[1,0],"strides":[2],"transposed":true})");
  expect_text(CrossEntropyParams{CrossEntropyParams::Reduction::kNone, 0, true, true},
              R"({"ignore_index":0,"logarithms":true,"reduction":"none","weighted":true})");
  expect_text(FusedMlpParams{relu(), true}, R"({"activation":)" + kRelu + R"(,"gated":true})");
  expect_text(MatmulParams{0.5}, R"({"alpha":0.5})");
  expect_text(RecurrenceParams{RecurrenceParams::Cell::kGru,
                               RecurrenceParams::Direction::kBoth,
                               {{"elu", 0.5}, {"tanh"}, {"affine", 2, -1}, {"relu"}},
                               0.75,
                               true,
                               true,
                               true,
                               "bl",
                               "h"},
              R"({"activations":[["elu",0.5,0.0],["tanh",0.0,0.0],["affine",2.0,-1.0],["relu",0.0,0.0]],"batch_first":true,"cell":"gru","clip":0.75,)"
              R"("direction":"both","input_forget":true,"inputs":"bl","linear_before_reset":true,"outputs":"h"})");
  expect_text(PoolParams{{{3}, {1}, {1}, {0, 0}}, true, true, true},
              R"({"count_pad":true,"dilations":[1],"global":true,"kernel":[3],"max":true,"pads":[0,0],"strides":[1]})");
  expect_text(RotaryEmbeddingParams{64, true, true, RotaryEmbeddingParams::Ids::kOffset, 9},
              R"({"cache_rows":9,"full_cache":true,"ids":"offset","interleaved":true,"rotated":64})");
  expect_text(SoftmaxParams{2, true}, R"({"axis":2,"log":true})");
}

TEST(Params, NormalizationHasRowsFromAnAxisOnOrOverAxes) {
  NormalizationParams params;
  params.axis = 2;
  params.epsilon = 0.5;
  params.scale = params.shift = params.keep_input = params.keep_mean = params.keep_inverse = true;
  expect_text(params, R"({"axis":2,"epsilon":0.5,"keep_input":true,"keep_inverse":true,"keep_mean":true,"scale":true,"shift":true})");
  NormalizationParams over;
  over.axes = {0, 2};
  over.divisor = NormalizationParams::Divisor::kL1;
  expect_text(over, R"({"axes":[0,2],"divisor":"l1","epsilon":0.0})");
}

TEST(Params, MovementCopiesPiecesOrGathers) {
  MovementParams pieces;
  pieces.copies = {{-1, 0, {2}, {0}, {1}, 0, 4}};
  pieces.fill = 0;
  expect_text(pieces, R"({"copies":[{"in":-1,"in_offset":0,"in_strides":[0],"out":0,"out_offset":4,"out_strides":[1],"shape":[2]}],"fill":0})");
  MovementParams gather;
  gather.gather = {2, 3, 4, 5};
  expect_text(gather, R"({"gather":{"count":4,"inner":5,"outer":2,"size":3}})");
  EXPECT_TRUE(MovementParams{}.is_view());
  EXPECT_FALSE(pieces.is_view());
  EXPECT_FALSE(gather.is_view());
}

TEST(Params, NumbersThatJsonLacksAreWords) {
  expect_text(MatmulParams{HUGE_VAL}, R"({"alpha":"inf"})");
  expect_text(MatmulParams{std::nan("")}, R"({"alpha":"nan"})");
  Problem problem;
  AttentionParams{}.write(problem);
  EXPECT_EQ(AttentionParams::of(problem).masked_value, -HUGE_VAL);
}

TEST(Params, WhatReturnsToItsDefaultIsTakenOut) {
  Problem problem;
  SoftmaxParams{1, true}.write(problem);
  SoftmaxParams{1}.write(problem);
  EXPECT_EQ(text_of(problem), R"({"axis":1})");
  set_epilogue(problem, relu());
  EXPECT_TRUE(has_epilogue(problem));
  set_epilogue(problem, std::nullopt);
  declare_algorithm(problem, "bf16");
  declare_algorithm(problem, "");
  EXPECT_EQ(text_of(problem), R"({"axis":1})");
}

TEST(Params, KindsLeaveWhatAllShare) {
  Problem problem;
  set_epilogue(problem, relu());
  set_prologue(problem, {3, {}, {}, {}});
  set_formats(problem, {"nchw16c"}, {""});
  declare_algorithm(problem, "bf16_strassen2");
  MatmulParams{2}.write(problem);
  EXPECT_EQ(text_of(problem), R"({"alpha":2.0,"declared":"bf16_strassen2","epilogue":)" + kRelu +
                                  R"(,"formats":{"in":["nchw16c"],"out":[""]},"prologue":{"input_types":[],"inputs":3,"ops":[],"results":[]}})");
  EXPECT_EQ(declared_algorithm(problem), "bf16_strassen2");
  EXPECT_TRUE(multiplies_in_bf16(problem));
  EXPECT_EQ(strassen_levels(problem), 2);
  EXPECT_EQ(prologue_inputs(problem), 3u);
  EXPECT_EQ(epilogue_extras(problem), 0u);
  EXPECT_EQ(Json(epilogue_of(problem).value()).dump(), kRelu);
}

TEST(Params, WhatIsSharedIsAbsentByDefault) {
  const Problem problem;
  EXPECT_FALSE(epilogue_of(problem) || has_epilogue(problem) || prologue_of(problem) || has_prologue(problem) || has_formats(problem));
  EXPECT_EQ(declared_algorithm(problem), "");
  EXPECT_EQ(prologue_inputs(problem), 1u);
  EXPECT_EQ(epilogue_extras(problem), 0u);
}

// Problems come from files.
TEST(Params, WhatIsMissingOrUnknownIsRefused) {
  const auto with = [](const char* params) {
    return Json{{"kind", ""}, {"in", Json::array()}, {"out", Json::array()}, {"params", Json::parse(params)}, {"threads", 1}}.get<Problem>();
  };
  EXPECT_THROW(AttentionParams::of(with("{}")), Json::exception);
  EXPECT_THROW(SoftmaxParams::of(with(R"({"axis":"last"})")), Json::exception);
  EXPECT_THROW(CrossEntropyParams::of(with(R"({"reduction":"median"})")), Error);
}

using Rewrite = std::function<void(const Problem&, Problem&)>;

// By kind, what reads and writes all of its own parameters.
const std::map<std::string_view, Rewrite>& rewrites() {
  static const std::map<std::string_view, Rewrite> rows{
      {kind::kMatmul, rewrite<MatmulParams>},
      {kind::kAttention, rewrite<AttentionParams>},
      {kind::kFusedMlp, rewrite<FusedMlpParams>},
      {kind::kConv, rewrite<ConvParams>},
      {kind::kInvertedResidual, rewrite<InvertedResidualParams>},
      {kind::kPool, rewrite<PoolParams>},
      {kind::kReorder, [](const Problem&, Problem&) {}},  // has formats alone
      {kind::kSoftmax, rewrite<SoftmaxParams>},
      {kind::kLayerNorm, rewrite<NormalizationParams>},
      {kind::kRmsNorm, rewrite<NormalizationParams>},
      {kind::kReduce, rewrite<ReduceParams>},
      {kind::kCrossEntropy, rewrite<CrossEntropyParams>},
      {kind::kRotaryEmbedding, rewrite<RotaryEmbeddingParams>},
      {kind::kRecurrence, rewrite<RecurrenceParams>},
      {kind::kPointwise, rewrite<PointwiseParams>},
      {kind::kMovement, rewrite<MovementParams>},
      {kind::kPlain, rewrite<PlainParams>},
  };
  return rows;
}

// Every problem that a node of the examples is lowered to.
TEST(Params, StructsHoldAllThatANodeSays) {
  int problems = 0;
  for (const KernelKind* kind : kernel_kinds()) {
    ASSERT_TRUE(rewrites().count(kind->name())) << kind->name() << " has no parameters here";
    for (const Graph& graph : kind->examples())
      for (const Node& node : graph.nodes) {
        const std::optional<Lowering> lowering = kind->lower(graph, node, 1);
        if (!lowering) continue;
        const Problem& problem = lowering->variant.problem;
        Problem again{problem.kind, problem.in, problem.out, Json::object(), problem.threads};
        rewrites().at(kind->name())(problem, again);
        set_epilogue(again, epilogue_of(problem));
        EXPECT_EQ(again.canonical(), problem.canonical()) << kind->name() << ": " << graph.name;
        ++problems;
      }
  }
  EXPECT_GT(problems, 400);
}

TEST(Params, InvertedResidualHoldsItsThreeConvolutions) {
  Problem part;
  part.kind = kind::kConv;
  Problem depthwise = part;
  depthwise.threads = 7;
  const InvertedResidualParams params{part, depthwise, part};
  Problem problem, again;
  params.write(problem);
  rewrite<InvertedResidualParams>(problem, again);
  EXPECT_EQ(text_of(again), text_of(problem));
  EXPECT_EQ(text_of(problem), R"({"depthwise":)" + depthwise.canonical() + R"(,"expand":)" + part.canonical() + R"(,"project":)" + part.canonical() + "}");
}

}  // namespace
}  // namespace amdahl
