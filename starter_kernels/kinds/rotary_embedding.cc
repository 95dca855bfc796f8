// The rotary_embedding kind.
//
// in[0], out[0]: Accesses over [batch, heads, positions, head size]: layouts with heads inside, and transposes, are strides.
// in[1], in[2]: cosines and sines, Accesses over [batch, heads, positions, width], width = half of the rotated part, or all of it
// (`full_cache`). With `ids`, in[3] holds position numbers [batch, positions] or one offset, and the third dimension of the caches is looked up by
// them.

#include "starter_kernels/kinds/rotary_embedding.h"

#include <algorithm>

#include "graph/graph.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

using Ids = RotaryEmbeddingParams::Ids;

// kInOrder has no name: it is absent.
constexpr ChoiceNames<Ids, 2> kIds{{{"row", Ids::kRow}, {"offset", Ids::kOffset}}};

class RotaryEmbedding final : public KernelKind {
 public:
  std::string_view name() const override { return kind::kRotaryEmbedding; }
  std::string_view summary() const override { return "rotation of pairs by position"; }
  Traits traits() const override { return {.writes_strides = true}; }

  Work work(const Problem& problem) const override {
    Work w{3.0 * static_cast<double>(numel(problem.out[0].shape)), operand_bytes(problem.out[0])};
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    return w;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    if (node.op != "RotaryEmbedding") return std::nullopt;
    const bool microsoft = node.domain == "com.microsoft";
    if (!microsoft && !node.domain.empty()) return std::nullopt;
    const size_t cos = microsoft ? 2 : 1, sin = microsoft ? 3 : 2, ids = microsoft ? 1 : 3;
    const Value& x = graph.value(node.inputs[0]);
    if (x.dtype == DType::kF64) return std::nullopt;
    const Shape& cache = graph.value(node.inputs[cos]).shape;
    const int64_t dim = node.attr_int("rotary_embedding_dim", 0);
    Shape shape = x.shape, strides;
    if (x.shape.size() == 4) {
      strides = row_major_strides(shape);
    } else {  // heads inside
      int64_t heads = node.attr_int("num_heads", 0);
      if (heads == 0) heads = x.shape[2] / std::max<int64_t>(1, 2 * cache.back());
      const int64_t size = x.shape[2] / heads;
      shape = {x.shape[0], heads, x.shape[1], size};
      strides = {x.shape[1] * x.shape[2], size, x.shape[2], 1};
    }
    const int64_t rotated = dim > 0 ? dim : shape[3], half = rotated / 2;
    const bool has_ids = ids < node.inputs.size() && node.inputs[ids] != kNoValue;
    Lowering l;
    l.inputs = {node.inputs[0], node.inputs[cos], node.inputs[sin]};
    l.outputs = {node.outputs[0]};
    Problem& p = l.variant.problem;
    p.kind = name();
    p.threads = threads;
    p.in = {{x.dtype, shape, strides, 0, false}};
    for (size_t i : {cos, sin}) {
      const Value& v = graph.value(node.inputs[i]);
      p.in.push_back({v.dtype, {shape[0], shape[1], shape[2], half}, {has_ids ? 0 : shape[2] * half, 0, half, 1}, 0, v.constant.has_value()});
    }
    if (p.in[1].dtype != p.in[2].dtype || p.in[1].dtype == DType::kF64) return std::nullopt;
    RotaryEmbeddingParams params;
    if (has_ids) {
      const Value& v = graph.value(node.inputs[ids]);
      l.inputs.push_back(node.inputs[ids]);
      p.in.push_back(dense_access(graph, node.inputs[ids]));
      params.ids = microsoft && v.shape.size() <= 1 && numel(v.shape) == 1 ? Ids::kOffset : Ids::kRow;
      params.cache_rows = cache[0];
    }
    p.out = {{x.dtype, shape, strides}};
    params.rotated = rotated;
    params.interleaved = node.attr_int("interleaved", 0) != 0;
    params.write(p);
    return l;
  }

  std::vector<Graph> examples() const override { return row_examples(name()); }
};

}  // namespace

RotaryEmbeddingParams RotaryEmbeddingParams::of(const Problem& problem) {
  const Json& params = problem.params;
  RotaryEmbeddingParams p;
  p.rotated = params.at("rotated").get<int64_t>();
  p.interleaved = params.value("interleaved", false);
  p.full_cache = params.value("full_cache", false);
  if (params.contains("ids")) {
    p.ids = choice_named(kIds, params.at("ids").get<std::string>());
    p.cache_rows = params.at("cache_rows").get<int64_t>();
  }
  return p;
}

void RotaryEmbeddingParams::write(Problem& problem) const {
  Json& params = problem.params;
  const bool has_ids = ids != Ids::kInOrder;
  params["rotated"] = rotated;
  put_param(params, "interleaved", interleaved, true);
  put_param(params, "full_cache", full_cache, true);
  put_param(params, "ids", has_ids, has_ids ? name_of_choice(kIds, ids) : "");
  put_param(params, "cache_rows", has_ids, cache_rows);
}

const KernelKind* rotary_embedding_kind() {
  static const RotaryEmbedding kind;
  return &kind;
}

}  // namespace amdahl
