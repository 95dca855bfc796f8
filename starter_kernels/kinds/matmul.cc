// matmul: C[b] = alpha * A[b] * B[b], then the epilogue.
//
// in[0] = A [batch…, M, K], in[1] = B [batch…, K, N], out[0] = C [batch…, M, N]; strides express transposes, broadcast
// batches (0) and head layouts. in[2 …] are the extras of params["epilogue"]. params["alpha"]: number, 1 when absent.
// An N-D MatMul whose B is a matrix is one matrix product: the leading dimensions are collapsed into M.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "graph/op.h"
#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/gemm_cycles.h"
#include "starter_kernels/kinds/gemm_prelude.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/matmul_bf16.h"
#include "starter_kernels/kinds/matmul_strassen.h"
#include "starter_kernels/kinds/number_text.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/vector_epilogue.h"

namespace amdahl {
namespace {

struct Sizes {
  int64_t batch = 1, m = 0, n = 0, k = 0;
};

Sizes sizes_of(const Problem& problem) {
  const Shape& c = problem.out[0].shape;
  Sizes s;
  for (size_t i = 0; i + 2 < c.size(); ++i) s.batch *= c[i];
  s.m = c[c.size() - 2];
  s.n = c[c.size() - 1];
  s.k = problem.in[0].shape.back();
  return s;
}

bool is_multiplied_as(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kF16 || dtype == DType::kBF16 ||
         dtype == DType::kI32 || dtype == DType::kI64 || dtype == DType::kU32 || dtype == DType::kU64;
}

class Matmul : public KernelKind {
 public:
  std::string_view name() const override { return "matmul"; }
  std::string_view summary() const override { return "matrix product, batched, with epilogue (MatMul, Gemm)"; }

  Work work(const Problem& problem) const override {
    const Sizes s = sizes_of(problem);
    Work work;
    work.flops = 2.0 * s.batch * s.m * s.n * s.k;
    for (const Access& a : problem.in) work.bytes += touched_bytes(a);
    work.bytes += touched_bytes(problem.out[0]);
    if (multiplies_in_bf16(problem)) work.bytes -= 0.5 * touched_bytes(problem.in[1]);
    halve(problem, work);
    return work;
  }

  SearchSpace space(const Problem& problem, const MachineInfo& machine) const override;
  std::string source(const Variant& variant) const override;
  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override;
  std::vector<Graph> examples() const override;
};

int64_t at_most(const std::vector<int64_t>& values, int64_t wanted) {
  int64_t best = values.front();
  for (int64_t v : values)
    if (v <= wanted) best = v;
  return best;
}

// Of the thread that has most to do, all matrices of the batch.
double cycles_of(const Sizes& s, const Knobs& k, int64_t a_row_bytes, int threads, const MachineInfo& machine) {
  constexpr double kRegion = 4500;  // a parallel region costs 1.8 us
  const int64_t parts = k.at("PARTITION") == 0 ? 1 : std::max<int64_t>(1, threads / std::gcd(s.batch, int64_t{threads}));
  const int64_t parts_m = k.at("PARTITION") == 2 ? parts : 1, parts_n = parts / parts_m;
  const auto whole = [](int64_t n, int64_t unit) { return (n + unit - 1) / unit; };
  GemmBlocking b;
  b.lanes = k.at("VLEN"), b.mr = k.at("MR"), b.nrv = k.at("NRV");
  b.rows = std::min(s.m, whole(whole(s.m, b.mr), parts_m) * b.mr);
  const int64_t vectors = whole(s.n, b.lanes);
  b.vectors = std::min(vectors, whole(whole(vectors, b.nrv), parts_n) * b.nrv);
  b.k = whole(s.k, k.at("SPLIT_K"));
  b.block_rows = std::min(b.rows, whole(k.at("MC"), b.mr) * b.mr);
  b.block_k = std::min(b.k, k.at("KC"));
  b.block_vectors = std::min(b.vectors, whole(k.at("NC"), b.lanes * b.nrv) * b.nrv);
  b.a_row_bytes = k.at("PACK_A") ? 0 : std::max<int64_t>(4, a_row_bytes);
  b.a_stays = k.at("LOOP_ORDER") == 1;
  b.b_packed = k.at("PACK_B") == 1;
  b.b_prefetched = b.b_packed && k.at("PREFETCH") > 0;
  const double batches = k.at("PARTITION") == 0 ? static_cast<double>(s.batch) : static_cast<double>(whole(s.batch, std::max<int64_t>(1, threads / parts)));
  return batches * gemm_cycles(b, machine) + (k.at("PARTITION") == 0 ? 0 : kRegion);
}

SearchSpace Matmul::space(const Problem& problem, const MachineInfo& machine) const {
  const bool pairs = multiplies_in_bf16(problem);
  if (strassen_levels(problem) > 0) return strassen_space(problem, machine);
  if (pairs && multiplies_on_tiles(machine)) return tile_space(problem);
  Sizes s = sizes_of(problem);
  if (pairs) s.k = (s.k + 1) / 2;
  const bool avx512 = machine.has("avx512f");
  const bool converts = pairs || accumulator_of(problem.in[0].dtype) != problem.in[0].dtype;
  const bool constant_b = problem.in[1].constant;
  const bool parallel = problem.threads > 1;
  // Starting a parallel region costs microseconds: some ten thousand multiplications.
  const bool worth_threads = parallel && 2.0 * s.batch * s.m * s.n * s.k > 2e5;

  SearchSpace space;
  const auto knob = [&](const char* name, std::vector<int64_t> values, int64_t starter, const char* meaning) {
    space.knobs.push_back({name, std::move(values), starter, meaning});
  };
  const std::vector<int64_t> widths = pairs ? std::vector<int64_t>{16} : avx512 ? std::vector<int64_t>{8, 16} : std::vector<int64_t>{8};
  knob("VLEN", widths, widths.front(), "vector width in 4-byte lanes");
  const auto mr = up_to({1, 2, 4, 6, 8, 10, 12, 14, 16}, s.m);
  knob("MR", mr, at_most(mr, 6), "rows of the register tile");
  knob("NRV", {1, 2, 3, 4, 6}, 2, "vectors in a row of the register tile");
  const auto mc = up_to({24, 48, 96, 144, 192, 384, 768}, s.m);
  knob("MC", mc, at_most(mc, 96), "rows of A in a block that stays in L2");
  // An output narrower than the sum cannot hold partial sums: K is not split.
  const auto kc = problem.out[0].dtype == accumulator_of(problem.in[0].dtype) && problem.out[0].dtype == problem.in[0].dtype
                      ? up_to({64, 128, 192, 256, 384, 512, 768, 1024, 1536, 3072}, s.k)
                      : std::vector<int64_t>{std::max<int64_t>(1, s.k)};
  knob("KC", kc, at_most(kc, 256), "steps of K in a block: a panel of KC x NR of B stays in L1");
  const auto nc = up_to({64, 128, 256, 512, 1024, 2048, 4096}, s.n);
  knob("NC", nc, at_most(nc, 1024), "columns of B in a block");
  knob("PACK_A", converts ? std::vector<int64_t>{1} : std::vector<int64_t>{0, 1}, 1, "1: A is copied to panels of MR rows");
  knob("PACK_B", pairs ? std::vector<int64_t>{1} : constant_b ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}, pairs,
       "1: the constant B is stored as panels at load; 0: packed block by block at every call");
  knob("LOOP_ORDER", {0, 1}, 0, "0: a panel of B stays in L1 while A passes; 1: a panel of A while B passes");
  if (parallel) {
    knob("PARTITION", {0, 1, 2, 3}, worth_threads ? (s.n >= s.m ? 1 : 2) : 0,
         "parts of C over threads: 0 one thread, 1 along N, 2 along M, 3 both");
    knob("TASKS", {1, 2, 4, 8}, 1, "parts a thread; above 1 they are handed out as threads become free");
  } else {
    knob("PARTITION", {0}, 0, "parts of C over threads: 0 one thread");
    knob("TASKS", {1}, 1, "parts a thread");
  }
  knob("PREFETCH", {0, 1, 2}, 0, "panels of B fetched ahead; 0: left to the hardware");
  knob("UNROLL_K", {1, 2, 4, 8}, 4, "steps of K in the body of the inner loop");

  // Few rows: weights are read once whatever is done.
  const bool few_rows = s.m <= 8 && s.batch == 1 && !converts && problem.out[0].dtype == problem.in[0].dtype &&
                        (problem.in[1].strides.back() == 1 || problem.in[1].strides[problem.in[1].strides.size() - 2] == 1);
  knob("GEMV", few_rows ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}, 0,
       "1: few rows of A against B in long streams, packed (PACK_B) or where it is; 0: blocked");
  // Worth it only where C has fewer tiles than threads can share, and parts stay long enough to pay for adding them.
  knob("SPLIT_K", s.batch * s.m * s.n <= 65536 && s.k >= 256 ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{1}, 1,
       "parts of K that are summed apart");
  const int64_t registers = avx512 ? 32 : 16;
  if (size_of(accumulator_of(problem.in[0].dtype)) == 4)
    space.cycles = [s, machine, a_row = problem.in[0].strides[problem.in[0].strides.size() - 2], threads = problem.threads](const Knobs& k) {
      return k.at("GEMV") ? 0 : cycles_of(s, k, a_row * 4, threads, machine);
    };
  const int64_t element = static_cast<int64_t>(size_of(accumulator_of(problem.in[0].dtype)));
  const int64_t l2 = machine.l2_bytes;
  space.refuse = [=](const Knobs& k) -> std::string {
    if (k.at("GEMV") && k.at("SPLIT_K") > 1) return "the GEMV form does not split K";
    const int64_t tile = k.at("MR") * k.at("NRV") + k.at("NRV");
    if (tile > registers) return fmt::format("a tile of {}x{} vectors needs {} registers, there are {}", k.at("MR"), k.at("NRV"), tile, registers);
    if (k.at("PACK_A") && std::min(k.at("MC"), s.m) * std::min(k.at("KC"), s.k) * element > 2 * l2)
      return "the packed block of A does not fit twice the L2 cache";
    if (!k.at("PACK_B") && std::min(k.at("NC"), s.n) * std::min(k.at("KC"), s.k) * element > (int64_t{32} << 20))
      return "the packed block of B takes more than 32 MiB a thread";
    return "";
  };
  return space;
}

// finish() on vectors of a row of C, where the epilogue has that form; and the prefetch of what it reads.
std::string finish_in_registers(const Problem& p, const std::string& scale, const std::string& indices) {
  const std::optional<std::string> vectors = p.out[0].strides.back() == 1 ? emit_vector_epilogue(p, 2) : std::nullopt;
  std::string text = fmt::format("constexpr int64_t BLOCK = VLEN;\nconstexpr bool FINISH_VECTORS = {};\n", vectors.has_value());
  text += std::string(embedded_source("cpu/vector_math.h")) + vectors.value_or("") + emit_prefetch_extras(p, 2);
  text += "static inline lanes finish_lanes(lanes sum, const void* const* in, int64_t batch, int64_t m, int64_t n) {\n";
  text += vectors ? fmt::format("{}  return vector_epilogue(sum, in{});\n}}\n", scale, indices) : "  return sum;\n}\n";
  return text + "static inline void prefetch_for_finish(const void* const* in, int64_t batch, int64_t m, int64_t n) {\n" +
         fmt::format("  prefetch_extras(in{});\n}}\n", indices);
}

std::string Matmul::source(const Variant& variant) const {
  const Problem& p = variant.problem;
  const Access &a = p.in[0], &b = p.in[1], &c = p.out[0];
  const Sizes s = sizes_of(p);
  const size_t rank = c.shape.size();
  const DType acc = accumulator_of(a.dtype);
  const bool has_epilogue = p.params.contains("epilogue");
  const double alpha = p.params.contains("alpha") ? number_of(p.params.at("alpha")) : 1;
  const bool same_c = c.dtype == acc;

  std::string text = "// matmul " + fmt::format("{}x{}x{}x{}\n", s.batch, s.m, s.n, s.k);
  text += gemm_types(acc, {a.dtype, b.dtype, c.dtype});
  text += fmt::format("typedef {} A_T;\ntypedef {} B_T;\ntypedef {} C_T;\n", storage_type(a.dtype), storage_type(b.dtype),
                      storage_type(c.dtype));
  const auto constant = [&](const char* name, int64_t value) {
    text += fmt::format("constexpr int64_t {} = {};\n", name, value);
  };
  constant("BATCH", s.batch), constant("M", s.m), constant("N", s.n), constant("K", s.k);
  constant("A_OFFSET", a.offset), constant("A_ROW", a.strides[rank - 2]), constant("A_COL", a.strides[rank - 1]);
  constant("B_OFFSET", b.offset), constant("B_ROW", b.strides[rank - 2]), constant("B_COL", b.strides[rank - 1]);
  constant("C_OFFSET", c.offset), constant("C_ROW", c.strides[rank - 2]), constant("C_COL", c.strides[rank - 1]);
  constant("THREADS", p.threads);
  for (const auto& [name, value] : variant.knobs) constant(name.c_str(), value);
  const bool b_batched = std::any_of(b.strides.begin(), b.strides.end() - 2, [](int64_t stride) { return stride != 0; });
  text += fmt::format("constexpr bool B_BATCHED = {}, SAME_C = {}, FINISH = {};\n", b_batched, same_c,
                      has_epilogue || alpha != 1);
  text += batch_offset("a_batch", a, rank - 2) + batch_offset("b_batch", b, rank - 2) + batch_offset("c_batch", c, rank - 2);

  if (has_epilogue) text += std::string(embedded_source("cpu/scalar_math.h")) + emit_epilogue(p, 2);
  const std::string scale = alpha != 1 ? fmt::format("  sum *= ACC({});\n", double_text(alpha)) : "", indices = batch_indices(c.shape, rank - 2) + ", m, n";
  text += "static inline C_T finish(ACC sum, const void* const* in, int64_t batch, int64_t m, int64_t n) {\n" + scale;
  text += has_epilogue ? fmt::format("  return epilogue(sum, in{});\n}}\n", indices) : "  return from_acc(sum);\n}\n";
  text += gemm_schedule(variant) + std::string(embedded_source("cpu/sizes.h"));
  if (multiplies_in_bf16(p)) text += embedded_source("cpu/bf16.h");
  if (multiplies_in_bf16(p) && are_of_tiles(variant.knobs)) return text + std::string(embedded_source("cpu/matmul_bf16.cpp"));
  if (multiplies_in_bf16(p)) text += "#define PAIRS_OF_BF16\n";
  text += embedded_source("cpu/gemm_tile.h");
  if (strassen_levels(p) > 0) return text + finish_in_registers(p, scale, indices) + strassen_text(variant);
  if (variant.knobs.at("GEMV")) return text + std::string(embedded_source("cpu/matmul_gemv.cpp"));
  return text + finish_in_registers(p, scale, indices) + std::string(embedded_source("cpu/matmul.cpp"));
}

// ---- from the graph ------------------------------------------------------------------------------------------------

// The operand as [batch…, rows, columns], broadcast to `rank` dimensions with the output's batch.
Access matrix_access(const Value& value, Shape shape, const Shape& batch) {
  Access a = Access::dense(value.dtype, shape, value.constant.has_value());
  const size_t own = shape.size() - 2;
  Access out = a;
  out.shape = batch;
  out.strides.assign(batch.size(), 0);
  for (size_t i = 0; i < own; ++i) {
    const size_t at = batch.size() - own + i;
    if (shape[i] != 1) out.strides[at] = a.strides[i];
  }
  out.shape.insert(out.shape.end(), a.shape.end() - 2, a.shape.end());
  out.strides.insert(out.strides.end(), a.strides.end() - 2, a.strides.end());
  return out;
}

std::optional<Lowering> lower_matmul(const Graph& graph, const Node& node) {
  const Value &a = graph.value(node.inputs[0]), &b = graph.value(node.inputs[1]);
  if (!is_multiplied_as(a.dtype) || a.dtype != b.dtype) return std::nullopt;
  Shape a_shape = a.shape, b_shape = b.shape;
  if (a_shape.size() == 1) a_shape.insert(a_shape.begin(), 1);
  if (b_shape.size() == 1) b_shape.push_back(1);
  // Collapse: rows of all of A's matrices meet the same B.
  if (b_shape.size() == 2) a_shape = {numel(a_shape) / std::max<int64_t>(1, a_shape.back()), a_shape.back()};
  if (a_shape.back() == 0) return std::nullopt;
  const Shape batch = broadcast({a_shape.begin(), a_shape.end() - 2}, {b_shape.begin(), b_shape.end() - 2});
  Shape c_shape = batch;
  c_shape.push_back(a_shape[a_shape.size() - 2]);
  c_shape.push_back(b_shape.back());

  Lowering l;
  Problem& p = l.variant.problem;
  p.kind = "matmul";
  p.in = {matrix_access(a, a_shape, batch), matrix_access(b, b_shape, batch)};
  p.out = {Access::dense(a.dtype, c_shape)};
  l.inputs = {node.inputs[0], node.inputs[1]};
  l.outputs = {node.outputs[0]};
  return l;
}

// Y = alpha * A' * B' + beta * C
std::optional<Lowering> lower_gemm(const Graph& graph, const Node& node) {
  const Value &a = graph.value(node.inputs[0]), &b = graph.value(node.inputs[1]), &y = graph.value(node.outputs[0]);
  const double alpha = node.attr_float("alpha", 1), beta = node.attr_float("beta", 1);
  if (!is_multiplied_as(a.dtype) || a.dtype != b.dtype || (!is_float(a.dtype) && (alpha != 1 || beta != 1)))
    return std::nullopt;
  Lowering l;
  Problem& p = l.variant.problem;
  p.kind = "matmul";
  p.in = {matrix_access(a, a.shape, {}), matrix_access(b, b.shape, {})};
  p.out = {Access::dense(y.dtype, y.shape)};
  const auto transpose = [](Access& access) {
    std::swap(access.shape[0], access.shape[1]);
    std::swap(access.strides[0], access.strides[1]);
  };
  if (node.attr_int("transA", 0)) transpose(p.in[0]);
  if (node.attr_int("transB", 0)) transpose(p.in[1]);
  if (p.in[0].shape.back() == 0) return std::nullopt;
  if (alpha != 1) p.params["alpha"] = number_json(static_cast<float>(alpha));
  l.inputs = {node.inputs[0], node.inputs[1]};
  l.outputs = {node.outputs[0]};

  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue && beta != 0) {
    const Value& c = graph.value(node.inputs[2]);
    const DType type = is_float(y.dtype) && y.dtype != DType::kF64 ? DType::kF32 : y.dtype;
    PointwiseProgram sum;
    sum.inputs = 2;
    sum.input_types = {type, c.dtype};
    int addend = 1;
    if (beta != 1) {
      sum.ops.push_back({"const", {}, type, static_cast<float>(beta)});
      sum.ops.push_back({"mul", {1, 2}, type});
      addend = 3;
    }
    sum.ops.push_back({"add", {0, addend}, y.dtype});
    sum.results = {sum.inputs + static_cast<int>(sum.ops.size()) - 1};
    p.params["epilogue"] = sum;
    p.in.push_back(broadcast_access(c, y.shape));
    l.inputs.push_back(node.inputs[2]);
  }
  return l;
}

std::optional<Lowering> Matmul::lower(const Graph& graph, const Node& node, int threads) const {
  if (!node.domain.empty()) return std::nullopt;
  std::optional<Lowering> l;
  if (node.op == "MatMul") l = lower_matmul(graph, node);
  if (node.op == "Gemm") l = lower_gemm(graph, node);
  if (!l) return std::nullopt;
  l->variant.problem.threads = threads;
  l->variant.knobs = space(l->variant.problem, this_machine()).starters();
  return l;
}

// ---- examples ------------------------------------------------------------------------------------------------------

std::vector<Graph> Matmul::examples() const {
  std::vector<Graph> graphs;
  const auto add = [&](const char* name, const char* op, DType dtype, Shape a, Shape b, bool constant_b,
                       std::map<std::string, Attribute> attributes = {}, std::optional<Shape> c = std::nullopt) {
    ExampleGraph g(name);
    std::vector<ValueId> inputs{g.input(dtype, a), constant_b ? g.normal(b, graphs.size(), 0, 1, dtype) : g.input(dtype, b)};
    if (c) inputs.push_back(g.input(dtype, *c));
    const ValueId y = g.node(op, inputs, std::move(attributes));
    graphs.push_back(g.finish({y}));
  };
  const DType f32 = DType::kF32;
  const Attribute yes = int64_t{1};
  add("tails", "MatMul", f32, {17, 70}, {70, 45}, false);
  add("one element", "MatMul", f32, {1, 1}, {1, 1}, false);
  add("collapsed batch, weights", "MatMul", f32, {2, 7, 33}, {33, 65}, true);
  add("row by weights", "MatMul", f32, {1, 131}, {131, 67}, true);
  add("vectors", "MatMul", f32, {19}, {19}, false);
  add("heads", "MatMul", f32, {2, 3, 9, 16}, {2, 3, 16, 11}, false);
  add("broadcast batches", "MatMul", f32, {1, 3, 5, 8}, {2, 1, 8, 7}, false);
  add("batched weights", "MatMul", f32, {3, 4, 20}, {3, 20, 34}, true);
  add("several blocks", "MatMul", f32, {49, 300}, {300, 150}, true);
  add("several blocks, bias", "Gemm", f32, {13, 270}, {270, 34}, true, {}, Shape{34});
  add("several blocks, a sum in every place", "Gemm", f32, {13, 270}, {270, 34}, true, {}, Shape{13, 34});
  add("transposed B, bias", "Gemm", f32, {5, 40}, {33, 40}, true, {{"transB", yes}}, Shape{33});
  add("row by weights, several runs of K", "MatMul", f32, {1, 800}, {800, 67}, true);
  add("two rows by weights", "MatMul", f32, {2, 300}, {300, 83}, true);
  add("eight rows by weights, bias", "Gemm", f32, {8, 270}, {270, 83}, true, {}, Shape{83});
  add("row by transposed weights", "Gemm", f32, {1, 131}, {67, 131}, true, {{"transB", yes}});
  add("transposed A, scaled", "Gemm", f32, {21, 13}, {21, 18}, false,
      {{"transA", yes}, {"alpha", 0.5}, {"beta", 0.25}}, Shape{13, 1});
  add("infinite alpha", "Gemm", f32, {3, 9}, {9, 17}, true, {{"alpha", HUGE_VAL}}, Shape{17});
  add("beta that is no number", "Gemm", f32, {3, 9}, {9, 17}, false, {{"beta", std::nan("")}}, Shape{17});
  add("smallest alpha", "Gemm", f32, {3, 9}, {9, 17}, false, {{"alpha", 0x1p-149}, {"beta", -0.0}}, Shape{17});
  add("integers", "MatMul", DType::kI32, {7, 21}, {21, 19}, false);
  add("long integers", "MatMul", DType::kI64, {3, 9}, {9, 10}, false);
  add("doubles", "MatMul", DType::kF64, {9, 33}, {33, 17}, false);
  add("doubles, scaled", "Gemm", DType::kF64, {9, 33}, {33, 17}, false, {{"alpha", 0.5}}, Shape{17});
  add("half precision", "MatMul", DType::kF16, {6, 40}, {40, 35}, true);
  add("bfloat16", "MatMul", DType::kBF16, {6, 40}, {40, 35}, true);
  return graphs;
}

}  // namespace

const KernelKind* matmul_kind() {
  static const Matmul kind;
  return &kind;
}

}  // namespace amdahl
