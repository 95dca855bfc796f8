#include "graph/models/bucket_axes.h"

#include <algorithm>
#include <numeric>

#include "graph/models/buckets.h"

namespace amdahl {
namespace {

using TensorsOf = std::vector<ValueId> (*)(const Graph&, size_t);

// The sizes of one axis, by bucket.
std::vector<int64_t> sizes_of(const Graph& graph, TensorsOf tensors, size_t number, size_t axis) {
  std::vector<int64_t> sizes;
  for (size_t b = 0; b < graph.buckets.size(); ++b) sizes.push_back(graph.value(tensors(graph, b)[number]).shape[axis]);
  return sizes;
}

bool all_equal(const std::vector<int64_t>& sizes) { return std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end(); }

std::optional<AxisSource> source_of(const Graph& graph, const std::vector<int64_t>& sizes) {
  if (all_equal(sizes)) return AxisSource{};
  const std::vector<ValueId> inputs = bucket_inputs(graph, 0);
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t a = 0; a < graph.value(inputs[i]).shape.size(); ++a)
      if (sizes_of(graph, bucket_inputs, i, a) == sizes) return AxisSource{static_cast<int>(i), static_cast<int>(a)};
  return std::nullopt;
}

}  // namespace

std::vector<size_t> buckets_by_size(const Graph& graph) {
  const auto elements = [&](size_t bucket) {
    int64_t count = 0;
    for (ValueId v : bucket_inputs(graph, bucket)) count += numel(graph.value(v).shape);
    return count;
  };
  std::vector<size_t> order(graph.buckets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return elements(a) < elements(b); });
  return order;
}

std::optional<std::vector<std::vector<AxisSource>>> output_axes(const Graph& graph) {
  std::vector<std::vector<AxisSource>> sources;
  const std::vector<ValueId> outputs = bucket_outputs(graph, 0);
  for (size_t o = 0; o < outputs.size(); ++o) {
    sources.emplace_back();
    for (size_t a = 0; a < graph.value(outputs[o]).shape.size(); ++a) {
      const std::optional<AxisSource> source = source_of(graph, sizes_of(graph, bucket_outputs, o, a));
      if (!source) return std::nullopt;
      sources.back().push_back(*source);
    }
  }
  return sources;
}

std::vector<std::vector<bool>> open_axes(const Graph& graph) {
  std::vector<std::vector<bool>> open;
  const std::vector<ValueId> inputs = bucket_inputs(graph, 0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    open.emplace_back();
    for (size_t a = 0; a < graph.value(inputs[i]).shape.size(); ++a) open.back().push_back(!all_equal(sizes_of(graph, bucket_inputs, i, a)));
  }
  return open;
}

}  // namespace amdahl
