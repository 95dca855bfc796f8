#include "playbook/strided_view.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace amdahl {
namespace {

// Dimensions of `inner` that can be walked as one are merged, so that a reader may see [batch, seq] as rows.
struct Dimension {
  int64_t size, dense, stride;  // `dense`: stride in the row-major order of the shape
};

std::vector<Dimension> merged(const Shape& shape, const Access& inner) {
  std::vector<Dimension> dims;
  const Shape dense = row_major_strides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!dims.empty() && dims.back().stride == inner.strides[i] * shape[i] && dims.back().dense == dense[i] * shape[i])
      dims.back() = {dims.back().size * shape[i], dense[i], inner.strides[i]};
    else dims.push_back({shape[i], dense[i], inner.strides[i]});
  }
  return dims;
}

}  // namespace

std::optional<Access> compose(const Access& outer, const Shape& shape, const Access& inner) {
  const std::vector<Dimension> dims = merged(shape, inner);
  std::vector<int64_t> most(dims.size(), 0);  // the largest index that the reader reaches in each dimension
  Access result = outer;
  result.dtype = inner.dtype;
  result.constant = inner.constant;

  int64_t rest = outer.offset;
  result.offset = inner.offset;
  for (size_t d = 0; d < dims.size(); ++d) {
    most[d] = rest / dims[d].dense;
    result.offset += most[d] * dims[d].stride;
    rest %= dims[d].dense;
  }
  if (rest != 0) return std::nullopt;
  for (size_t i = 0; i < outer.shape.size(); ++i) {
    result.strides[i] = 0;
    if (outer.shape[i] <= 1 || outer.strides[i] == 0) continue;
    if (outer.strides[i] < 0) return std::nullopt;
    // A step may advance several dimensions (a diagonal); it must not carry from one into the next.
    rest = outer.strides[i];
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t step = rest / dims[d].dense;
      rest %= dims[d].dense;
      most[d] += step * (outer.shape[i] - 1);
      result.strides[i] += step * dims[d].stride;
    }
    if (rest != 0) return std::nullopt;
  }
  for (size_t d = 0; d < dims.size(); ++d)
    if (most[d] >= dims[d].size) return std::nullopt;
  return result;
}

namespace {

// The input with its own strides and the output's shape, for the views to change.
Access input_as_output(const Graph& graph, const Node& node, ValueId output) {
  const Value& in = graph.value(node.inputs[0]);
  Access view = Access::dense(in.dtype, in.shape, in.constant.has_value());
  view.shape = graph.value(output).shape;
  return view;
}

Access transposed_view(const Graph& graph, const Node& node) {
  Access view = input_as_output(graph, node, node.outputs[0]);
  const Shape dense = view.strides;
  std::vector<int64_t> perm(dense.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  perm = node.attr_ints("perm", perm);
  for (size_t i = 0; i < perm.size(); ++i) view.strides[i] = dense[static_cast<size_t>(perm[i])];
  return view;
}

std::optional<Access> split_view(const Graph& graph, const Node& node, size_t output) {
  Access view = input_as_output(graph, node, node.outputs[output]);
  int64_t axis = node.attr_int("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(view.strides.size());
  for (size_t o = 0; o < output; ++o) {
    if (node.outputs[o] == kNoValue) return std::nullopt;
    view.offset += graph.value(node.outputs[o]).shape[static_cast<size_t>(axis)] * view.strides[static_cast<size_t>(axis)];
  }
  return view;
}

// Integers of an input: none where it is absent, nullopt where they depend on data.
std::optional<std::vector<int64_t>> known_ints(const Graph& graph, const Node& node, size_t i) {
  if (i >= node.inputs.size() || node.inputs[i] == kNoValue) return std::vector<int64_t>{};
  const Value& v = graph.value(node.inputs[i]);
  if (!v.constant) return std::nullopt;
  return to_ints(*v.constant);
}

std::optional<Access> sliced_view(const Graph& graph, const Node& node) {
  const auto starts = known_ints(graph, node, 1), axes = known_ints(graph, node, 3), steps = known_ints(graph, node, 4);
  if (!starts || !axes || !steps) return std::nullopt;
  const Shape& in = graph.value(node.inputs[0]).shape;
  Access view = input_as_output(graph, node, node.outputs[0]);
  const Shape dense = view.strides;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes->empty() ? static_cast<int64_t>(i) : (*axes)[i];
    if (axis < 0) axis += static_cast<int64_t>(in.size());
    const auto a = static_cast<size_t>(axis);
    const int64_t step = steps->empty() ? 1 : (*steps)[i], size = in[a];
    if (step <= 0) return std::nullopt;
    const int64_t start = std::clamp<int64_t>((*starts)[i] < 0 ? (*starts)[i] + size : (*starts)[i], 0, size);
    view.offset += start * dense[a];
    view.strides[a] = dense[a] * step;
  }
  return numel(view.shape) > 0 ? std::optional(view) : std::nullopt;
}

Access expanded_view(const Graph& graph, const Node& node) {
  const Shape& in = graph.value(node.inputs[0]).shape;
  Access view = input_as_output(graph, node, node.outputs[0]);
  const Shape dense = std::exchange(view.strides, Shape(view.shape.size(), 0));
  const size_t missing = view.shape.size() - in.size();
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i] != 1) view.strides[missing + i] = dense[i];
  return view;
}

}  // namespace

std::optional<Access> view_of(const Graph& graph, const Node& node, size_t output) {
  if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == kNoValue) return std::nullopt;
  if (node.op == "Transpose") return transposed_view(graph, node);
  if (node.op == "Split") return split_view(graph, node, output);
  if (node.op == "Slice" && node.inputs.size() >= 3) return sliced_view(graph, node);
  if (node.op == "Expand") return expanded_view(graph, node);
  return std::nullopt;
}

std::optional<double> scalar_constant(const Graph& graph, ValueId value) {
  if (value == kNoValue) return std::nullopt;
  const Value& v = graph.value(value);
  if (!v.constant || !is_float(v.dtype) || v.constant->numel() != 1) return std::nullopt;
  return to_doubles(*v.constant)[0];
}

std::vector<ReadThrough> read_through(const RewriteContext& context, const Operand& operand, const Access& access, bool through_scaling) {
  std::vector<ReadThrough> choices{{operand, access, {}, 1.0}};
  if (!operand.format.empty()) return choices;
  while (true) {
    const ReadThrough& last = choices.back();
    const ValueId value = last.from.value;
    const NodeId producer = context.uses.producer[static_cast<size_t>(value)];
    if (producer < 0) return choices;
    const Node& node = context.graph.node(producer);
    ReadThrough next = last;
    next.nodes.push_back(producer);
    const size_t output = static_cast<size_t>(std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin());
    ValueId source = node.inputs.empty() ? kNoValue : node.inputs[0];
    if (const auto view = view_of(context.graph, node, output)) {
      const auto composed = compose(last.access, context.graph.value(value).shape, *view);
      if (!composed) return choices;
      next.access = *composed;
    } else if (through_scaling && node.domain.empty() && (node.op == "Mul" || node.op == "Div")) {
      auto factor = scalar_constant(context.graph, node.inputs[1]);
      if (!factor && node.op == "Mul") {
        factor = scalar_constant(context.graph, node.inputs[0]);
        source = node.inputs[1];
      }
      if (!factor || context.graph.value(source).shape != context.graph.value(value).shape) return choices;
      next.factor *= node.op == "Mul" ? *factor : 1.0 / *factor;
    } else {
      return choices;
    }
    next.from.value = context.storage[static_cast<size_t>(source)];
    choices.push_back(std::move(next));
  }
}

ReadThrough furthest_available(const RewriteContext& context, const std::vector<ReadThrough>& choices) {
  for (size_t i = choices.size(); i-- > 0;) {
    const Operand& o = choices[i].from;
    const bool is_input = std::any_of(context.graph.inputs.begin(), context.graph.inputs.end(), [&](ValueId v) { return v == o.value; });
    if (context.writer.count(o) || is_input || context.graph.is_constant(o.value)) return choices[i];
  }
  return choices[0];
}

std::optional<WriteThrough> write_through(const RewriteContext& context, const Operand& value, const Access& access) {
  if (!value.format.empty() || context.is_graph_output(value)) return std::nullopt;
  // The only reader of the storage, under any of its names.
  NodeId reader = -1;
  for (size_t v = 0; v < context.graph.values.size(); ++v) {
    if (context.storage[v] != value.value) continue;
    for (NodeId n : context.uses.consumers[v]) {
      if (is_renaming(context.graph.node(n))) continue;
      if (reader >= 0 && reader != n) return std::nullopt;
      reader = n;
    }
  }
  if (reader < 0) return std::nullopt;
  const Node& node = context.graph.node(reader);
  if (!node.domain.empty() || node.op != "Transpose") return std::nullopt;
  const Value &in = context.graph.value(node.inputs[0]), &out = context.graph.value(node.outputs[0]);
  std::vector<int64_t> perm(in.shape.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  perm = node.attr_ints("perm", perm);
  Access transposed = Access::dense(in.dtype, in.shape);
  const Shape dense = row_major_strides(out.shape);
  for (size_t i = 0; i < perm.size(); ++i) transposed.strides[static_cast<size_t>(perm[i])] = dense[i];
  const auto composed = compose(access, in.shape, transposed);
  if (!composed) return std::nullopt;
  return WriteThrough{{context.storage[static_cast<size_t>(node.outputs[0])], ""}, *composed, {reader}};
}

}  // namespace amdahl
