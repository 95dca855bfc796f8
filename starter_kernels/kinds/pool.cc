// Pooling: in[0] = x [N, C, spatial…], out[0] = [N, C, spatial…] (global: ones); they may be in channel blocks or channels last (formats.h).

#include "starter_kernels/kinds/pool.h"

#include "graph/graph.h"
#include "graph/op.h"
#include "starter_kernels/examples/conv_examples.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {
namespace {

class Pool : public KernelKind {
 public:
  std::string_view name() const override { return kind::kPool; }
  std::string_view summary() const override { return "maximum or average over windows or whole planes"; }
  Traits traits() const override { return {.family = Traits::Family::kRows}; }

  Work work(const Problem& problem) const override {
    const SlidingWindow g = SlidingWindow::of(problem);
    Work w;
    w.flops = static_cast<double>(numel(problem.out[0].shape)) * static_cast<double>(g.taps());
    w.bytes = static_cast<double>(numel(problem.in[0].shape) + numel(problem.out[0].shape)) * static_cast<double>(size_of(problem.in[0].dtype));
    return w;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    if (!node.domain.empty()) return std::nullopt;
    const bool global = node.op == "GlobalAveragePool" || node.op == "GlobalMaxPool";
    const bool max = node.op == "MaxPool" || node.op == "GlobalMaxPool";
    if (!global && node.op != "MaxPool" && node.op != "AveragePool") return std::nullopt;
    const Value &x = graph.value(node.inputs[0]), &y = graph.value(node.outputs[0]);
    const bool known_type =
        x.dtype == DType::kF32 || x.dtype == DType::kF64 || x.dtype == DType::kF16 || (max && (x.dtype == DType::kI8 || x.dtype == DType::kU8));
    if (!known_type || x.shape.size() < 3) return std::nullopt;
    if (node.outputs.size() > 1 && node.outputs[1] != kNoValue) return std::nullopt;  // plain computes indices
    Lowering lowering;
    Problem& problem = lowering.variant.problem;
    problem.kind = kind::kPool;
    problem.threads = threads;
    Shape x_shape = x.shape, y_shape = y.shape;
    if (global && x_shape.size() > 5) {  // whole planes: how they are laid out in dimensions does not matter
      x_shape = {x.shape[0], x.shape[1], numel({x.shape.begin() + 2, x.shape.end()})};
      y_shape = {x.shape[0], x.shape[1], 1};
    } else if (x_shape.size() > 5) {
      throw Refusal("pooling over more than three spatial dimensions");
    }
    problem.in = {Access::dense(x.dtype, x_shape)};
    problem.out = {Access::dense(y.dtype, y_shape)};
    PoolParams params;
    params.max = max;
    params.global = global;
    if (global) {
      const std::vector<int64_t> kernel(x_shape.begin() + 2, x_shape.end()), ones(kernel.size(), 1);
      params.window = {kernel, ones, ones, std::vector<int64_t>(2 * kernel.size(), 0)};
    } else {
      params.window = window_params(graph, node, node.attr_ints("kernel_shape"), false);
      params.count_pad = node.attr_int("count_include_pad", 0) != 0;
    }
    params.write(problem);
    lowering.inputs = {node.inputs[0]};
    lowering.outputs = {node.outputs[0]};
    return lowering;
  }

  std::vector<Graph> examples() const override { return pool_examples(); }
};

}  // namespace

PoolParams PoolParams::of(const Problem& problem) {
  const Json& params = problem.params;
  return {WindowParams::of(problem), params.at("max").get<bool>(), params.value("count_pad", false), params.value("global", false)};
}

void PoolParams::write(Problem& problem) const {
  window.write(problem);
  problem.params["max"] = max;
  put_param(problem.params, "count_pad", count_pad, true);
  put_param(problem.params, "global", global, true);
}

const KernelKind* pool_kind() {
  static const Pool kind;
  return &kind;
}

}  // namespace amdahl
