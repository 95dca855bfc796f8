// Normalizations of ONNX Runtime with the sums before them: SkipLayerNormalization, SkipSimplifiedLayerNormalization, EmbedLayerNormalization.

#include <fmt/format.h>

#include "graph/ops/composed.h"
#include "graph/ops/fused_attention.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

std::map<std::string, Attribute> of_last_axis(const Expansion& e) { return {{"axis", int64_t{-1}}, {"epsilon", e.node.attr_float("epsilon", 1e-12)}}; }

// input, skip, gamma, beta, bias -> output, mean, inverse deviation, sum
void expand_skip_layer(Expansion& e) {
  const ValueId sum = sum_of(e, e.add("Add", {e.in(0), e.in(1)}), optional_in(e, 4));
  std::vector<ValueId> inputs{sum, e.in(2)};
  if (e.has_input(3)) inputs.push_back(e.in(3));
  const size_t outputs = e.wants_output(2) ? 3 : e.wants_output(1) ? 2 : 1;
  const std::vector<ValueId> y = e.add_several(outputs, "LayerNormalization", inputs, of_last_axis(e));
  for (size_t i = 0; i < outputs; ++i) e.set_output(i, y[i]);
  e.set_output(3, sum);
}

// input, skip, gamma, bias -> output, mean (never computed), inverse deviation, sum
void expand_skip_simplified(Expansion& e) {
  const ValueId sum = sum_of(e, e.add("Add", {e.in(0), e.in(1)}), optional_in(e, 3));
  // The standard's form has the output alone.
  const bool one = !e.wants_output(2);
  const std::vector<ValueId> y = e.add_several(one ? 1 : 2, one ? "RMSNormalization" : "SimplifiedLayerNormalization", {sum, e.in(2)}, of_last_axis(e));
  e.set_output(0, y[0]);
  if (!one) e.set_output(2, y[1]);
  e.set_output(3, sum);
}

ValueId rows(Expansion& e, size_t table, ValueId ids) { return e.add("Gather", {e.in(table), ids}, {{"axis", int64_t{0}}}); }

// Those of the first positions, for all sequences, where none are given.
ValueId position_rows(Expansion& e, size_t table, size_t ids, int64_t positions) {
  if (e.has_input(ids)) return rows(e, table, e.in(ids));
  return e.add("Slice", {e.in(table), e.ints({0}), e.ints({positions}), e.ints({0})});
}

// How many ones a sequence's mask has; zeros without a mask.
ValueId mask_index(Expansion& e, const Shape& ids) {
  if (e.node.attr_int("mask_index_type", 0) > 1) throw Refusal("a mask_index_type of more than 1 is not supported");
  if (!e.has_input(7)) return e.constant("no_mask", from_ints(DType::kI32, {ids[0]}, std::vector<int64_t>(static_cast<size_t>(ids[0]), 0)));
  const ValueId ones = e.cast(e.add("Equal", {e.in(7), e.scalar(e.dtype(e.in(7)), 1)}), DType::kI32);
  return e.add("ReduceSum", {ones, e.ints({1})}, {{"keepdims", int64_t{0}}});
}

// input_ids, segment_ids, words, positions, segments, gamma, beta, mask, position_ids -> output, mask_index, sum
void expand_embedding(Expansion& e) {
  const Shape ids = e.shape(e.in(0));
  if (ids.size() != 2) throw Refusal(fmt::format("input_ids have shape {}, not [batch, positions]", to_string(ids)));
  ValueId sum = e.add("Add", {rows(e, 2, e.in(0)), position_rows(e, 3, 8, ids[1])});
  if (e.has_input(1)) sum = e.add("Add", {sum, rows(e, 4, e.in(1))});
  e.set_output(0, e.add("LayerNormalization", {sum, e.in(5), e.in(6)}, of_last_axis(e)));
  if (e.wants_output(1)) e.set_output(1, mask_index(e, ids));
  e.set_output(2, sum);
}

}  // namespace

std::vector<OpDef> microsoft_normalization_ops() {
  return {
      made_of_others("com.microsoft", "SkipLayerNormalization", "fffFF", expand_skip_layer, 4),
      made_of_others("com.microsoft", "SkipSimplifiedLayerNormalization", "fffF", expand_skip_simplified, 4),
      made_of_others("com.microsoft", "EmbedLayerNormalization", "iIffFffII", expand_embedding, 3),
  };
}

}  // namespace amdahl
