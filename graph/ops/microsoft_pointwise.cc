// Small operators of ONNX Runtime: sums with a bias and what comes after them, and older forms of operators that the standard has by now.

#include <fmt/format.h>

#include "graph/ops/composed.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

// X, bias, skip
void expand_bias_add(Expansion& e) { e.set_output(0, e.add("Add", {e.add("Add", {e.in(0), e.in(1)}), e.in(2)})); }

// Half of the channels, times the Gelu of the others.
void expand_bias_split_gelu(Expansion& e) {
  const ValueId x = e.add("Add", {e.in(0), e.in(1)});
  if (e.rank(x) == 0) throw Refusal("a scalar has no channels");
  const int64_t channels = e.shape(x).back();
  if (channels % 2 != 0) throw Refusal(fmt::format("{} channels are not two halves", channels));
  const std::vector<ValueId> halves = e.add_several(2, "Split", {x, e.ints({channels / 2, channels / 2})}, {{"axis", int64_t{-1}}});
  e.set_output(0, e.add("Mul", {halves[0], e.add("Gelu", {halves[1]})}));
}

// Over all dimensions from `axis` on, as if they were one.
void expand_bias_softmax(Expansion& e) {
  const Shape shape = e.shape(e.in(0));
  const size_t axis = e.axis_of(e.node.attr_int("axis", 1), shape.size(), "axis");
  const ValueId sum = e.add("Add", {e.in(0), e.in(1)});
  if (e.shape(sum) != shape) throw Refusal(fmt::format("a bias of shape {} for {}", to_string(e.shape(e.in(1))), to_string(shape)));
  const Shape rows{numel({shape.begin(), shape.begin() + static_cast<int64_t>(axis)}), numel({shape.begin() + static_cast<int64_t>(axis), shape.end()})};
  const bool is_last = axis + 1 == shape.size();
  const ValueId y = e.add("Softmax", {is_last ? sum : e.reshape(sum, rows)}, {{"axis", int64_t{-1}}});
  e.set_output(0, e.reshape(y, shape));
}

void expand_expand_dims(Expansion& e) {
  const int64_t axis = e.constant_number(1, "the axis");
  e.set_output(0, e.add("Unsqueeze", {e.in(0), e.ints({axis})}));
}

// Its pads may be a row of a matrix.
void expand_pad(Expansion& e) {
  std::vector<ValueId> inputs{e.in(0), e.ints(to_ints(e.constant_in(1, "pads")))};
  if (e.has_input(2)) inputs.push_back(e.reshape(e.in(2), {}));
  e.set_output(0, e.add("Pad", inputs, {{"mode", e.node.attr_string("mode", "constant")}}));
}

void expand_range(Expansion& e) {
  const ValueId start = e.reshape(e.in(0), {});
  const ValueId step = e.has_input(2) ? e.reshape(e.in(2), {}) : e.scalar(e.dtype(start), 1);
  e.set_output(0, e.add("Range", {start, e.reshape(e.in(1), {}), step}));
}

// Those that the standard took over as they were.
void expand_as_it_is(Expansion& e) { e.set_output(0, e.add(e.node.op, e.node.inputs, e.node.attributes)); }

}  // namespace

std::vector<OpDef> microsoft_pointwise_ops() {
  return {
      made_of_others("com.microsoft", "BiasAdd", "fff", expand_bias_add),
      made_of_others("com.microsoft", "BiasSplitGelu", "ff", expand_bias_split_gelu),
      made_of_others("com.microsoft", "BiasSoftmax", "ff", expand_bias_softmax),
      made_of_others("com.microsoft", "ExpandDims", "ai", expand_expand_dims),
      made_of_others("com.microsoft", "Pad", "aiA", expand_pad),
      made_of_others("com.microsoft", "Range", "nnN", expand_range),
      made_of_others("com.microsoft", "Trilu", "aI", expand_as_it_is),
      made_of_others("com.microsoft", "GatherND", "ai", expand_as_it_is),
  };
}

}  // namespace amdahl
