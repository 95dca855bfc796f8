// attention: out = softmax(scale * q k' + mask) v for every head.
//
// in[0] = q [B, H, S, D], in[1] = k [B, Hkv, T, D], in[2] = v [B, Hkv, T, Dv], out[0] = [B, H, S, Dv]; strides express where the
// heads lie. H is a multiple of Hkv: query head h reads key head h / (H / Hkv). in[3], if any, is the mask over
// [B, H, S, T] (broadcast by stride 0): floats are added to the scaled scores; where a bool is false, the score is
// params["masked_value"]. params: "scale"; "causal": key t is hidden from query s when t > s + "causal_offset";
// "zero_hidden_rows": a query that sees no key gets zeros, not NaN; "masked_value": score of what is hidden, -inf when absent (JSON has no infinities);
// "hidden_added": it is added to the score rather than put in its place (an infinite score then is no number).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/gemm_prelude.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/number_text.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {
namespace {

struct Sizes {
  int64_t batch, heads, queries, keys, width, value_width;
  bool causal;
  explicit Sizes(const Problem& p)
      : batch(p.out[0].shape[0]), heads(p.out[0].shape[1]), queries(p.out[0].shape[2]), keys(p.in[1].shape[2]),
        width(p.in[0].shape[3]), value_width(p.out[0].shape[3]), causal(p.params.value("causal", false)) {}
};

class Attention : public KernelKind {
 public:
  std::string_view name() const override { return "attention"; }
  std::string_view summary() const override { return "softmax(scale q k' + mask) v, head by head (Attention)"; }

  // What causality hides need not be computed: half of a square.
  Work work(const Problem& problem) const override {
    const Sizes s(problem);
    double pairs = static_cast<double>(s.queries) * static_cast<double>(s.keys);
    if (s.causal) {
      pairs = 0;
      const int64_t offset = problem.params.value("causal_offset", int64_t{0});
      for (int64_t q = 0; q < s.queries; ++q) pairs += static_cast<double>(std::clamp<int64_t>(q + offset + 1, 0, s.keys));
    }
    Work work;
    work.flops = 2.0 * static_cast<double>(s.batch * s.heads * (s.width + s.value_width)) * pairs;
    for (const Access& a : problem.in) work.bytes += touched_bytes(a);
    work.bytes += touched_bytes(problem.out[0]);
    return work;
  }

  SearchSpace space(const Problem& problem, const MachineInfo& machine) const override {
    const Sizes s(problem);
    const bool avx512 = machine.has("avx512f");
    const bool copies = accumulator_of(problem.in[0].dtype) != problem.in[0].dtype;
    SearchSpace space;
    const auto knob = [&](const char* name, std::vector<int64_t> values, int64_t starter, const char* meaning) {
      space.knobs.push_back({name, std::move(values), starter, meaning});
    };
    knob("VLEN", avx512 ? std::vector<int64_t>{8, 16} : std::vector<int64_t>{8}, 8, "vector width in 4-byte lanes");
    knob("MR", {2, 4, 6, 8, 12}, 6, "rows of the register tile: keys for the scores, queries for the product with v");
    knob("NRV", {1, 2, 3, 4}, 2, "vectors in a row of the register tile");
    knob("BLOCK_Q", up_to({16, 32, 64, 128}, s.queries), std::min<int64_t>(32, up_to({16, 32, 64, 128}, s.queries).back()),
         "queries of a block");
    knob("ONLINE", {0, 1}, 0, "1: running maximum over blocks of keys (flash); 0: all scores of a block of queries are held");
    const auto block_k = up_to({32, 64, 128, 256, 512}, s.keys);
    knob("BLOCK_K", block_k, std::min<int64_t>(128, block_k.back()), "keys of a block, when ONLINE");
    if (s.causal && (!problem.params.contains("masked_value") || problem.params.value("hidden_added", false)))
      knob("SKIP_CAUSAL", {0, 1}, 0, "1: keys behind a block's last query are not looked at");
    else
      knob("SKIP_CAUSAL", {0}, 0, "1: keys behind a block's last query are not looked at");
    knob("PACK_KV", copies ? std::vector<int64_t>{1} : std::vector<int64_t>{0, 1}, copies,
         "1: k and v of a head are copied together first; 0: read where they are");
    knob("UNROLL_K", {1, 2, 4, 8}, 4, "steps in the body of the inner loop");
    knob("TASKS", problem.threads > 1 ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{1}, 1,
         "parts a thread; above 1 they are handed out as threads become free");
    const int64_t registers = avx512 ? 32 : 16;
    const int64_t keys = s.keys;
    space.refuse = [=](const Knobs& k) -> std::string {
      const int64_t tile = k.at("MR") * k.at("NRV") + k.at("NRV");
      if (tile > registers)
        return fmt::format("a tile of {}x{} vectors needs {} registers, there are {}", k.at("MR"), k.at("NRV"), tile, registers);
      if (!k.at("ONLINE") && keys * k.at("BLOCK_Q") * 4 > (int64_t{64} << 20))
        return "the scores of a block of queries take more than 64 MiB a thread";
      return "";
    };
    return space;
  }

  std::string source(const Variant& variant) const override;
  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override;
  std::vector<Graph> examples() const override;
};

std::string Attention::source(const Variant& variant) const {
  const Problem& p = variant.problem;
  const Access &q = p.in[0], &k = p.in[1], &v = p.in[2], &out = p.out[0];
  const Sizes s(p);
  const DType acc = accumulator_of(q.dtype);
  const bool has_mask = p.in.size() > 3;
  const bool selects = has_mask && p.in[3].dtype == DType::kBool;
  std::vector<DType> types{q.dtype, k.dtype, v.dtype};
  if (has_mask && !selects) types.push_back(p.in[3].dtype);
  types.push_back(out.dtype);

  std::string text = fmt::format("// attention of {} heads, {} queries, {} keys\n", s.batch * s.heads, s.queries, s.keys);
  text += gemm_types(acc, types);
  text += fmt::format("typedef {} Q_T;\ntypedef {} K_T;\ntypedef {} V_T;\ntypedef {} OUT_T;\ntypedef {} MASK_T;\n",
                      storage_type(q.dtype), storage_type(k.dtype), storage_type(v.dtype), storage_type(out.dtype),
                      has_mask ? storage_type(p.in[3].dtype) : "float");
  const auto constant = [&](const std::string& name, int64_t value) {
    text += fmt::format("constexpr int64_t {} = {};\n", name, value);
  };
  constant("HEADS", s.batch * s.heads), constant("S", s.queries), constant("T", s.keys), constant("D", s.width);
  constant("DV", s.value_width), constant("THREADS", p.threads);
  const auto operand = [&](const std::string& name, const Access& a) {
    constant(name + "_ROW", a.strides[2]), constant(name + "_COL", a.strides[3]);
    // Head number n of [B, H]; H may be a multiple of this operand's heads.
    const int64_t group = a.shape[1] > 0 ? s.heads / a.shape[1] : 1;
    std::string lower_name = name;
    for (char& c : lower_name) c = static_cast<char>(std::tolower(c));
    text += fmt::format("static inline int64_t {}_head(int64_t n) {{ return {} + n / {} * {} + n % {} / {} * {}; }}\n", lower_name,
                        a.offset, s.heads, a.strides[0], s.heads, group, a.strides[1]);
  };
  operand("Q", q), operand("K", k), operand("V", v), operand("OUT", out);
  if (has_mask) operand("MASK", p.in[3]);
  else text += "constexpr int64_t MASK_ROW = 0, MASK_COL = 0;\nstatic inline int64_t mask_head(int64_t) { return 0; }\n";
  for (const auto& [name, value] : variant.knobs) constant(name, value);
  constant("PREFETCH", 0);
  text += gemm_schedule(variant);
  text += fmt::format("constexpr bool CAUSAL = {}, MASK_ADDED = {}, MASK_SELECTS = {}, SAME_OUT = {};\n", s.causal,
                      has_mask && !selects, selects, out.dtype == acc);
  text += fmt::format("constexpr bool ZERO_HIDDEN_ROWS = {};\n", p.params.value("zero_hidden_rows", false));
  constant("CAUSAL_OFFSET", p.params.value("causal_offset", int64_t{0}));
  text += fmt::format("#define SCALE {}\n", double_text(number_of(p.params.at("scale"))));
  text += p.params.contains("masked_value") ? fmt::format("#define MASKED {}\n", double_text(number_of(p.params.at("masked_value"))))
                                            : std::string("#define MASKED (-__builtin_inf())\n");
  text += selects ? "static inline ACC masked(ACC score, bool keep) { return keep ? score : ACC(MASKED); }\n"
                  : "static inline ACC masked(ACC score, MASK_T add) { return score + to_acc(add); }\n";
  text += p.params.value("hidden_added", false) ? "static inline ACC hidden_score(ACC score) { return score + ACC(MASKED); }\n"
                                                : "static inline ACC hidden_score(ACC) { return ACC(MASKED); }\n";
  text += embedded_source("cpu/scalar_math.h");
  text += embedded_source("cpu/sizes.h");
  text += embedded_source("cpu/gemm_tile.h");
  constant("BLOCK", variant.knobs.at("VLEN"));
  text += embedded_source("cpu/vector_math.h");
  text += embedded_source("cpu/attention.cpp");
  return text;
}

// [B, H, N, W] of a value that is [B, H, N, W] or, with the heads inside the rows, [B, N, H * W].
Access head_access(const Value& value, int64_t heads) {
  if (value.shape.size() == 4) return Access::dense(value.dtype, value.shape, value.constant.has_value());
  const int64_t rows = value.shape[1], width = value.shape[2] / heads;
  Access a;
  a.dtype = value.dtype;
  a.constant = value.constant.has_value();
  a.shape = {value.shape[0], heads, rows, width};
  a.strides = {rows * heads * width, width, heads * width, 1};
  return a;
}

std::optional<Lowering> Attention::lower(const Graph& graph, const Node& node, int threads) const {
  if (!node.domain.empty() || node.op != "Attention" || node.outputs.size() != 1) return std::nullopt;
  if (node.attr_float("softcap", 0) != 0) return std::nullopt;
  for (size_t i = 4; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue) return std::nullopt;
  const Value &q = graph.value(node.inputs[0]), &k = graph.value(node.inputs[1]), &v = graph.value(node.inputs[2]);
  if (k.dtype != q.dtype || v.dtype != q.dtype) return std::nullopt;
  const bool inside = q.shape.size() == 3;
  const int64_t heads = inside ? node.attr_int("q_num_heads", 0) : q.shape[1];
  const int64_t kv_heads = inside ? node.attr_int("kv_num_heads", 0) : k.shape[1];

  Lowering l;
  Problem& p = l.variant.problem;
  p.kind = "attention";
  p.threads = threads;
  p.in = {head_access(q, heads), head_access(k, kv_heads), head_access(v, kv_heads)};
  p.out = {head_access(graph.value(node.outputs[0]), heads)};
  p.params["scale"] = number_json(node.has("scale") ? node.attr_float("scale", 1) : 1.0 / std::sqrt(static_cast<double>(p.in[0].shape[3])));
  p.params["zero_hidden_rows"] = true;
  if (node.attr_int("is_causal", 0)) p.params["causal"] = true;
  l.inputs = {node.inputs[0], node.inputs[1], node.inputs[2]};
  l.outputs = {node.outputs[0]};
  if (node.inputs.size() > 3 && node.inputs[3] != kNoValue) {
    const Shape& o = p.out[0].shape;
    p.in.push_back(broadcast_access(graph.value(node.inputs[3]), {o[0], o[1], o[2], p.in[1].shape[2]}));
    l.inputs.push_back(node.inputs[3]);
  }
  if (numel(p.out[0].shape) == 0 || p.in[1].shape[2] == 0 || p.in[0].shape[3] == 0) return std::nullopt;
  l.variant.knobs = space(p, this_machine()).starters();
  return l;
}

std::vector<Graph> Attention::examples() const {
  std::vector<Graph> graphs;
  const auto add = [&](const char* name, DType dtype, Shape q, Shape k, Shape v, std::map<std::string, Attribute> attributes,
                       std::optional<Shape> mask = std::nullopt, DType mask_type = DType::kF32) {
    ExampleGraph g(name, 23);
    std::vector<ValueId> inputs{g.input(dtype, q), g.input(dtype, k), g.input(dtype, v)};
    if (mask) inputs.push_back(g.input(mask_type, *mask));
    const ValueId y = g.node("Attention", inputs, std::move(attributes));
    graphs.push_back(g.finish({y}));
  };
  const DType f32 = DType::kF32;
  const Attribute yes = int64_t{1};
  add("one query", f32, {1, 2, 1, 16}, {1, 2, 19, 16}, {1, 2, 19, 16}, {});
  add("tails", f32, {2, 3, 17, 11}, {2, 3, 29, 11}, {2, 3, 29, 13}, {{"scale", 0.2}});
  add("causal", f32, {1, 2, 70, 32}, {1, 2, 70, 32}, {1, 2, 70, 32}, {{"is_causal", yes}});
  add("causal, more keys", f32, {1, 1, 7, 8}, {1, 1, 45, 8}, {1, 1, 45, 8}, {{"is_causal", yes}});
  add("causal, fewer keys", f32, {1, 1, 37, 8}, {1, 1, 9, 8}, {1, 1, 9, 8}, {{"is_causal", yes}});
  add("grouped heads", f32, {1, 6, 9, 8}, {1, 2, 21, 8}, {1, 2, 21, 24}, {});
  add("heads inside rows", f32, {2, 33, 48}, {2, 40, 48}, {2, 40, 48},
      {{"q_num_heads", int64_t{3}}, {"kv_num_heads", int64_t{3}}});
  add("added mask", f32, {2, 2, 18, 16}, {2, 2, 33, 16}, {2, 2, 33, 16}, {}, Shape{2, 1, 18, 33});
  add("added padding mask", f32, {2, 2, 18, 16}, {2, 2, 33, 16}, {2, 2, 33, 16}, {}, Shape{2, 1, 1, 33});
  add("one key for all", f32, {1, 2, 20, 16}, {1, 2, 1, 16}, {1, 2, 1, 16}, {});
  add("long keys", f32, {1, 1, 40, 16}, {1, 1, 300, 16}, {1, 1, 300, 16}, {});
  add("bool mask", f32, {1, 2, 12, 16}, {1, 2, 31, 16}, {1, 2, 31, 16}, {}, Shape{12, 31}, DType::kBool);
  add("rows that see nothing", f32, {1, 2, 15, 16}, {1, 2, 2, 16}, {1, 2, 2, 16}, {}, Shape{15, 2}, DType::kBool);
  add("half precision", DType::kF16, {1, 2, 9, 16}, {1, 2, 12, 16}, {1, 2, 12, 16}, {});
  add("doubles", DType::kF64, {1, 2, 9, 16}, {1, 2, 12, 16}, {1, 2, 12, 20}, {});
  return graphs;
}

}  // namespace

const KernelKind* attention_kind() {
  static const Attention kind;
  return &kind;
}

}  // namespace amdahl
