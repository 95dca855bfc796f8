// The rotary_embedding kind.
//
// in[0], out[0]: Accesses over [batch, heads, positions, head size]: layouts with heads inside, and transposes, are strides.
// in[1], in[2]: cosines and sines, Accesses over [batch, heads, positions, width], width = half of the rotated part, or all of it
// (params["full_cache"], the two halves given separately). With params["ids"], "row" or "offset", in[3] holds position
// numbers [batch, positions] or one offset, and the third dimension of the caches is looked up by them. params: "rotated",
// "interleaved", and "cache_rows", the number of rows that may be looked up.

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/row_space.h"

namespace amdahl {
namespace {

// The place of (b, h, p) in an operand.
std::string place_function(const char* name, const Access& a) {
  return fmt::format("static inline int64_t {}(int64_t b, int64_t h, int64_t p) {{ return {} + b * {} + h * {} + p * {}; }}\n", name,
                     a.offset, a.strides[0], a.strides[1], a.strides[2]);
}

// A table whose rows, one a position, lie apart: what is between them need not be in the caches.
bool has_gaps(const Access& table, int64_t half) {
  return table.constant && table.strides[0] == 0 && table.strides[1] == 0 && (table.strides[2] != half || table.strides[3] != 1);
}

bool packs_tables(const Problem& problem) {
  const int64_t half = problem.params.at("rotated").get<int64_t>() / 2;
  return !problem.params.value("full_cache", false) && has_gaps(problem.in[1], half) && has_gaps(problem.in[2], half);
}

class RotaryEmbedding final : public KernelKind {
 public:
  std::string_view name() const override { return "rotary_embedding"; }
  std::string_view summary() const override { return "rotation of pairs by position"; }

  Work work(const Problem& problem) const override {
    Work w{3.0 * static_cast<double>(numel(problem.out[0].shape)), operand_bytes(problem.out[0])};
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    return w;
  }

  SearchSpace space(const Problem& problem, const MachineInfo& machine) const override {
    const Shape& s = problem.out[0].shape;
    SearchSpace space;
    space.knobs = {rows_knob(problem, s[0] * s[1] * s[2], static_cast<double>(s[3]) * 0.3), vector_bits_knob(machine)};
    space.refuse = [](const Knobs&) { return std::string(); };
    return space;
  }

  std::string source(const Variant& variant) const override {
    const Problem& problem = variant.problem;
    const Access &x = problem.in[0], &cos = problem.in[1], &sin = problem.in[2], &y = problem.out[0];
    const std::string ids = problem.params.value("ids", "");
    const int64_t rotated = problem.params.at("rotated");
    std::string text = fmt::format(
        "typedef {} value_t;\ntypedef {} cache_t;\n"
        "constexpr int64_t HEADS = {}, POSITIONS = {}, HEAD_SIZE = {}, ROTATED = {}, HALF = ROTATED / 2;\n"
        "constexpr int64_t X_STEP = {}, Y_STEP = {}, COS_STEP = {}, SIN_STEP = {};\nconstexpr bool INTERLEAVED = {}, FULL_CACHE = {};\n",
        c_type(x.dtype), c_type(cos.dtype), y.shape[1], y.shape[2], y.shape[3], rotated, x.strides[3], y.strides[3], cos.strides[3],
        sin.strides[3], problem.params.value("interleaved", false), problem.params.value("full_cache", false));
    const int64_t table_rows = ids.empty() ? y.shape[2] : problem.params.at("cache_rows").get<int64_t>();
    text += fmt::format("constexpr bool HEADS_INSIDE = {}, PACKED = {};\nconstexpr int64_t TABLE_ROWS = {};\n",
                        y.shape[1] > 1 && x.strides[1] < x.strides[2], packs_tables(problem), table_rows);
    text += fmt::format("SCALAR float load(value_t x) {{ return {}; }}\nSCALAR value_t store(float x) {{ return {}; }}\nSCALAR float load_cache(cache_t x) {{ return {}; }}\n",
                        load_text(x.dtype, "x"), store_text(x.dtype, "x"), load_text(cos.dtype, "x"));
    text += place_function("x_place", x) + place_function("y_place", y) + place_function("cos_place", cos) + place_function("sin_place", sin);
    std::string position = "p";
    if (!ids.empty()) {
      position = fmt::format("((const {}*)in[3]){}", c_type(problem.in[3].dtype), ids == "offset" ? "[0] + p" : "[b * POSITIONS + p]");
      // A position outside the caches is kept inside: nothing beyond them is ever read.
      text += fmt::format("static inline int64_t position_of(const void* const* in, int64_t b, int64_t p) {{\n"
                          "  const int64_t i = {}, last = {};\n  return i < 0 ? 0 : i > last ? last : i;\n}}\n",
                          position, problem.params.at("cache_rows").get<int64_t>() - 1);
    } else {
      text += "static inline int64_t position_of(const void* const*, int64_t, int64_t p) { return p; }\n";
    }
    return join_text({opening_text(variant), text, tasks_text(problem, variant.knobs, y.shape[0] * y.shape[1] * y.shape[2], 0, DType::kF32),
                      std::string(embedded_source("cpu/sizes.h")), std::string(embedded_source("cpu/rotary_embedding.cpp"))});
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
    if (has_ids) {
      const Value& v = graph.value(node.inputs[ids]);
      l.inputs.push_back(node.inputs[ids]);
      p.in.push_back(dense_access(graph, node.inputs[ids]));
      p.params["ids"] = microsoft && v.shape.size() <= 1 && numel(v.shape) == 1 ? "offset" : "row";
      p.params["cache_rows"] = cache[0];
    }
    p.out = {{x.dtype, shape, strides}};
    p.params["rotated"] = rotated;
    if (node.attr_int("interleaved", 0)) p.params["interleaved"] = true;
    l.variant.knobs = space(p, this_machine()).starters();
    return l;
  }

  std::vector<Graph> examples() const override { return row_examples(name()); }
};

}  // namespace

const KernelKind* rotary_embedding_kind() {
  static const RotaryEmbedding kind;
  return &kind;
}

}  // namespace amdahl
