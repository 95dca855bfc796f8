#include "tuner/validation/input_ranges.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "graph/positions.h"
#include "graph/recurrence_nodes.h"
#include "tuner/validation/plain_numbers.h"

namespace amdahl {
namespace {

// An input that holds positions in a dimension of `size`, or of the smallest of several.
struct Positions {
  size_t input = 1;
  int64_t size = 0;
  bool from_the_end = true;  // some may be counted so
};

std::optional<Positions> positions_of(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  const auto along = [&](const Shape& shape, int64_t axis, size_t input) -> std::optional<Positions> {
    const auto rank = static_cast<int64_t>(shape.size()), d = axis < 0 ? axis + rank : axis;
    if (d < 0 || d >= rank) return std::nullopt;
    return Positions{input, shape[static_cast<size_t>(d)]};
  };
  if (has_positions_along_axis(node)) return along(graph.value(node.inputs[0]).shape, node.attr_int("axis", 0), 1);
  if (is_recurrence(node) && node.inputs.size() > 4) {  // how many of X's steps a row has
    const Shape& x = graph.value(node.inputs[0]).shape;
    return Positions{4, x[node.attr_int("layout", 0) != 0 ? 1 : 0] + 1, false};
  }
  if (node.op == "RoiAlign") return Positions{2, graph.value(node.inputs[0]).shape[0], false};  // of images
  if (node.op == "OneHot") return along(graph.value(node.outputs[0]).shape, node.attr_int("axis", -1), 0);
  if (node.op != "GatherND" && node.op != "ScatterND") return std::nullopt;
  const Shape &data = graph.value(node.inputs[0]).shape, &indices = graph.value(node.inputs[1]).shape;
  const int64_t first = node.op == "GatherND" ? node.attr_int("batch_dims", 0) : 0, depth = indices.empty() ? 0 : indices.back();
  if (depth < 1 || first < 0 || first + depth > static_cast<int64_t>(data.size())) return std::nullopt;
  return Positions{1, *std::min_element(data.begin() + first, data.begin() + first + depth)};
}

// The output holds the same integers, or some of them.
bool hands_on(const Graph& graph, const Node& node) {
  static const std::set<std::string_view> kMovers = {"Cast", "Reshape", "Unsqueeze", "Squeeze", "Identity", "Flatten", "Slice", "Expand", "Transpose"};
  return node.domain.empty() && kMovers.count(node.op) > 0 && !is_float(graph.value(node.outputs[0]).dtype);
}

bool is_signed(DType dtype) { return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 || dtype == DType::kI64; }

// Follows the integers through nodes that hand them on, to the dimensions that they select from. Since opset 11 positions may be counted from the end, as
// negative numbers; those that something else reads too, or an unsigned type holds, are not drawn so: what that makes of them nobody has said.
InputRange range_of(const Graph& graph, ValueId input) {
  InputRange range;
  range.is_number = is_plain_number(graph, input);
  std::optional<int64_t> least;
  bool from_the_end = is_signed(graph.value(input).dtype);
  std::set<ValueId> same{input};
  for (const Node& node : graph.nodes) {
    if (node.op == "Shape" || node.op == "Size") continue;
    const std::optional<Positions> positions = positions_of(graph, node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!same.count(node.inputs[i])) continue;
      if (positions && positions->input == i) {
        least = std::min(least.value_or(positions->size), positions->size);
        from_the_end = from_the_end && node.version >= 11 && positions->from_the_end;
      } else if (i == 0 && hands_on(graph, node)) {
        same.insert(node.outputs[0]);
        from_the_end = from_the_end && is_signed(graph.value(node.outputs[0]).dtype);
      } else {
        from_the_end = false;
      }
    }
  }
  if (least) range.hi = *least;
  range.from_the_end = least && from_the_end;
  return range;
}

}  // namespace

std::vector<InputRange> input_ranges(const Graph& graph, const std::vector<ValueId>& inputs) {
  std::vector<InputRange> ranges;
  for (ValueId input : inputs) ranges.push_back(is_float(graph.value(input).dtype) ? InputRange{} : range_of(graph, input));
  return ranges;
}

}  // namespace amdahl
