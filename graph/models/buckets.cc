#include "graph/models/buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/hash.h"
#include "graph/models/load_model.h"

namespace amdahl {
namespace {

// A graph that grows by whole models.
class Joiner {
 public:
  void append(const Graph& part, const std::string& bucket) {
    if (!graph_.buckets.empty()) require_alike(part, bucket);
    else graph_.name = part.name, graph_.fixed_inputs = part.fixed_inputs;
    graph_.buckets.push_back({bucket, static_cast<ValueId>(graph_.values.size())});
    const std::string ending = "@" + bucket;
    std::vector<ValueId> now;
    for (const Value& v : part.values) now.push_back(value(v, ending));
    const auto renumber = [&](std::vector<ValueId> list) {
      for (ValueId& v : list)
        if (v != kNoValue) v = now[static_cast<size_t>(v)];
      return list;
    };
    for (Node node : part.nodes) {
      node.name += ending;
      node.inputs = renumber(std::move(node.inputs));
      node.outputs = renumber(std::move(node.outputs));
      graph_.nodes.push_back(std::move(node));
    }
    for (ValueId v : renumber(part.inputs)) graph_.inputs.push_back(v);
    for (ValueId v : renumber(part.outputs)) graph_.outputs.push_back(v);
  }
  Graph take() { return std::move(graph_); }

 private:
  ValueId value(const Value& v, const std::string& ending) {
    if (v.constant)
      for (ValueId known : constants_[{v.dtype, v.shape, hash_hex(v.constant->data(), v.constant->bytes())}])
        if (std::memcmp(graph_.value(known).constant->data(), v.constant->data(), v.constant->bytes()) == 0) return known;
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.push_back(v);
    graph_.values.back().name += ending;
    if (v.constant) constants_[{v.dtype, v.shape, hash_hex(v.constant->data(), v.constant->bytes())}].push_back(id);
    return id;
  }

  void require_alike(const Graph& part, const std::string& bucket) const {
    const auto require = [&](const std::vector<ValueId>& first, const std::vector<ValueId>& these, const char* what) {
      const size_t count = first.size() / graph_.buckets.size();
      bool alike = these.size() == count;
      for (size_t i = 0; alike && i < count; ++i) {
        const Value &a = graph_.value(first[i]), &b = part.value(these[i]);
        alike = a.dtype == b.dtype && a.shape.size() == b.shape.size();
      }
      if (!alike)
        throw Error(ExitCode::kUsage, fmt::format("the model's {} at {} differ from those at {} in number, dtype or rank; tune these shapes in sessions "
                                                  "of their own",
                                                  what, bucket, graph_.buckets[0].name));
    };
    require(graph_.inputs, part.inputs, "inputs");
    require(graph_.outputs, part.outputs, "outputs");
  }

  Graph graph_;
  std::map<std::tuple<DType, Shape, std::string>, std::vector<ValueId>> constants_;
};

std::vector<ValueId> share_of(const std::vector<ValueId>& all, size_t buckets, size_t bucket) {
  if (buckets == 0) return all;
  const auto count = static_cast<std::ptrdiff_t>(all.size() / buckets), first = count * static_cast<std::ptrdiff_t>(bucket);
  return {all.begin() + first, all.begin() + first + count};
}

}  // namespace

Graph load_buckets(const std::string& model, const std::vector<BucketSizes>& buckets) {
  if (buckets.size() == 1) return load_model(model, buckets[0].options);
  Joiner joiner;
  for (const BucketSizes& b : buckets) joiner.append(load_model(model, b.options), b.name);
  return joiner.take();
}

std::vector<ValueId> bucket_inputs(const Graph& graph, size_t bucket) { return share_of(graph.inputs, graph.buckets.size(), bucket); }
std::vector<ValueId> bucket_outputs(const Graph& graph, size_t bucket) { return share_of(graph.outputs, graph.buckets.size(), bucket); }

size_t bucket_of(const std::vector<Bucket>& buckets, ValueId value) {
  size_t b = buckets.size();
  while (b > 1 && buckets[b - 1].first_value > value) --b;
  return b == 0 ? 0 : b - 1;
}

std::optional<size_t> bucket_for(const Graph& graph, const std::map<std::string, Shape>& shapes) {
  for (size_t b = 0; b < graph.buckets.size(); ++b) {
    const std::vector<ValueId> inputs = bucket_inputs(graph, b);
    const bool fits = std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) {
      const auto given = shapes.find(name_in_bucket(graph.buckets[b], graph.value(v).name));
      return given == shapes.end() || given->second == graph.value(v).shape;
    });
    if (fits) return b;
  }
  return std::nullopt;
}

std::string name_in_bucket(const Bucket& bucket, const std::string& name) {
  const std::string ending = "@" + bucket.name;
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

}  // namespace amdahl
