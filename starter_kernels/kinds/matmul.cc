// matmul: C[b] = alpha * A[b] * B[b], then the epilogue.
//
// in[0] = A [batch…, M, K], in[1] = B [batch…, K, N], out[0] = C [batch…, M, N]; strides express transposes, broadcast
// batches (0) and head layouts. in[2 …] are the extras of the epilogue. Of bytes, A is u8 and B i8, and sums are int32.
// An N-D MatMul whose B is a matrix is one matrix product: the leading dimensions are collapsed into M.

#include "starter_kernels/kinds/matmul.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "graph/graph.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/halved_work.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

bool is_multiplied_as(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kI32 || dtype == DType::kI64 ||
         dtype == DType::kU32 || dtype == DType::kU64;
}

class Matmul : public KernelKind {
 public:
  std::string_view name() const override { return kind::kMatmul; }
  std::string_view summary() const override { return "matrix product, batched, with epilogue (MatMul, Gemm, MatMulInteger)"; }
  Traits traits() const override { return {.family = Traits::Family::kProducts, .is_product = true, .has_epilogue = true, .reads_strides = true}; }

  Work work(const Problem& problem) const override {
    const MatmulSizes s = MatmulSizes::of(problem);
    Work work;
    work.flops = 2.0 * s.batch * s.m * s.n * s.k;
    for (const Access& a : problem.in) work.bytes += operand_bytes(a);
    work.bytes += operand_bytes(problem.out[0]);
    if (multiplies_in_bf16(problem)) work.bytes -= 0.5 * operand_bytes(problem.in[1]);
    halve(problem, work);
    return work;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override;
  std::vector<Graph> examples() const override;
};

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
  const bool bytes = node.op == "MatMulInteger";
  if (!bytes && (!is_multiplied_as(a.dtype) || a.dtype != b.dtype)) return std::nullopt;
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
  p.kind = kind::kMatmul;
  p.in = {matrix_access(a, a_shape, batch), matrix_access(b, b_shape, batch)};
  p.out = {Access::dense(graph.value(node.outputs[0]).dtype, c_shape)};
  l.inputs = {node.inputs[0], node.inputs[1]};
  l.outputs = {node.outputs[0]};
  return l;
}

// Y = alpha * A' * B' + beta * C
std::optional<Lowering> lower_gemm(const Graph& graph, const Node& node) {
  const Value &a = graph.value(node.inputs[0]), &b = graph.value(node.inputs[1]), &y = graph.value(node.outputs[0]);
  const double alpha = node.attr_float("alpha", 1), beta = node.attr_float("beta", 1);
  if (!is_multiplied_as(a.dtype) || a.dtype != b.dtype || (!is_float(a.dtype) && (alpha != 1 || beta != 1))) return std::nullopt;
  Lowering l;
  Problem& p = l.variant.problem;
  p.kind = kind::kMatmul;
  p.in = {matrix_access(a, a.shape, {}), matrix_access(b, b.shape, {})};
  p.out = {Access::dense(y.dtype, y.shape)};
  const auto transpose = [](Access& access) {
    std::swap(access.shape[0], access.shape[1]);
    std::swap(access.strides[0], access.strides[1]);
  };
  if (node.attr_int("transA", 0)) transpose(p.in[0]);
  if (node.attr_int("transB", 0)) transpose(p.in[1]);
  if (p.in[0].shape.back() == 0) return std::nullopt;
  MatmulParams{static_cast<float>(alpha)}.write(p);
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
    set_epilogue(p, sum);
    p.in.push_back(broadcast_access(graph, node.inputs[2], y.shape));
    l.inputs.push_back(node.inputs[2]);
  }
  return l;
}

std::optional<Lowering> Matmul::lower(const Graph& graph, const Node& node, int threads) const {
  if (!node.domain.empty()) return std::nullopt;
  std::optional<Lowering> l;
  if (node.op == "MatMul" || node.op == "MatMulInteger") l = lower_matmul(graph, node);
  if (node.op == "Gemm") l = lower_gemm(graph, node);
  if (!l) return std::nullopt;
  l->variant.problem.threads = threads;
  return l;
}

// ---- examples ------------------------------------------------------------------------------------------------------

std::vector<Graph> Matmul::examples() const {
  std::vector<Graph> graphs;
  const auto add = [&](const char* name, const char* op, DType dtype, Shape a, Shape b, bool constant_b, std::map<std::string, Attribute> attributes = {},
                       std::optional<Shape> c = std::nullopt) {
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
  add("transposed A, scaled", "Gemm", f32, {21, 13}, {21, 18}, false, {{"transA", yes}, {"alpha", 0.5}, {"beta", 0.25}}, Shape{13, 1});
  add("infinite alpha", "Gemm", f32, {3, 9}, {9, 17}, true, {{"alpha", HUGE_VAL}}, Shape{17});
  add("beta that is no number", "Gemm", f32, {3, 9}, {9, 17}, false, {{"beta", std::nan("")}}, Shape{17});
  add("smallest alpha", "Gemm", f32, {3, 9}, {9, 17}, false, {{"alpha", 0x1p-149}, {"beta", -0.0}}, Shape{17});
  add("integers", "MatMul", DType::kI32, {7, 21}, {21, 19}, false);
  add("long integers", "MatMul", DType::kI64, {3, 9}, {9, 10}, false);
  add("doubles", "MatMul", DType::kF64, {9, 33}, {33, 17}, false);
  add("doubles, scaled", "Gemm", DType::kF64, {9, 33}, {33, 17}, false, {{"alpha", 0.5}}, Shape{17});
  add("half precision", "MatMul", DType::kF16, {6, 40}, {40, 35}, true);
  add("bfloat16", "MatMul", DType::kBF16, {6, 40}, {40, 35}, true);
  add("even sizes", "MatMul", f32, {24, 64}, {64, 80}, true);
  add("even sizes, one row", "MatMul", f32, {1, 128}, {128, 72}, true);
  add("even sizes, transposed B", "Gemm", f32, {3, 136}, {36, 136}, true, {{"transB", yes}});
  add("half precision, more rows", "MatMul", DType::kF16, {20, 40}, {40, 35}, true);
  add("column of weights, a sum in every place", "Gemm", f32, {37, 2300}, {2300, 1}, true, {}, Shape{37, 1});
  add("three columns, a sum in every place, transposed A", "Gemm", f32, {70, 45}, {70, 3}, false, {{"transA", yes}}, Shape{45, 3});
  add("half precision, many steps", "MatMul", DType::kF16, {70, 600}, {600, 72}, true);
  const auto add_bytes = [&](const char* name, Shape a, Shape b, bool constant_b, bool scaled) {
    ExampleGraph g(name);
    const ValueId right = constant_b ? g.bytes(b, graphs.size()) : g.input(DType::kI8, b);
    const ValueId sums = g.node("MatMulInteger", {g.input(DType::kU8, a), right});
    if (!scaled) return graphs.push_back(g.finish({sums}));
    const ValueId floats = g.node("Cast", {sums}, {{"to", int64_t{1}}});
    graphs.push_back(g.finish({g.node("Mul", {floats, g.normal({b.back()}, graphs.size(), 0, 0.01)})}));
  };
  add_bytes("bytes", {17, 70}, {70, 45}, true, false);
  add_bytes("bytes, whole fours", {24, 64}, {64, 80}, true, false);
  add_bytes("bytes, one row", {1, 131}, {131, 67}, true, false);
  add_bytes("bytes, several blocks", {2, 23, 300}, {300, 150}, true, true);
  add_bytes("bytes of two inputs", {2, 3, 9, 18}, {2, 3, 18, 11}, false, false);
  return graphs;
}

}  // namespace

MatmulParams MatmulParams::of(const Problem& problem) {
  MatmulParams p;
  if (problem.params.contains("alpha")) p.alpha = number_of(problem.params.at("alpha"));
  return p;
}

void MatmulParams::write(Problem& problem) const { put_param(problem.params, "alpha", alpha != 1, number_json(alpha)); }

const KernelKind* matmul_kind() {
  static const Matmul kind;
  return &kind;
}

}  // namespace amdahl
