// Matrix product, activation, matrix product, with constant weights, becomes one kernel: the hidden layer is made and consumed
// block by block in L2. Anchored at the second product. The activation may be a pointwise step between or the epilogue of
// the first product; two products of the same rows that meet in it (SwiGLU) are the gated form.
#include <algorithm>

#include "playbook/node_window.h"
#include "playbook/playbook.h"
#include "playbook/strided_view.h"
#include "starter_kernels/kinds/fused_mlp.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {
namespace {

// Where an input of the activation comes from: the sum of product 0 or 1, or memory.
struct Source {
  int product = -1;
  Operand operand;
  Access access;
};

// The activation over [M, H], and the steps that it is made of.
struct Hidden {
  PointwiseProgram program;
  std::vector<Source> sources;  // one for each input
  std::vector<int> products;    // steps, at most two
};

PointwiseProgram reordered(const PointwiseProgram& program, const std::vector<int>& order) {
  PointwiseProgram out = program;
  std::vector<int> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    out.input_types[i] = program.input_types[static_cast<size_t>(order[i])];
    place[static_cast<size_t>(order[i])] = static_cast<int>(i);
  }
  const auto rename = [&](int& v) {
    if (v < program.inputs) v = place[static_cast<size_t>(v)];
  };
  for (PointwiseOp& op : out.ops)
    for (int& a : op.args) rename(a);
  for (int& r : out.results) rename(r);
  return out;
}

class MlpMatcher {
 public:
  MlpMatcher(const RewriteContext& context, std::string* refusal) : c_(context), refusal_(refusal) {}
  std::optional<Match> match(int anchor);

 private:
  std::nullopt_t refuse(const char* reason) {
    if (refusal_) *refusal_ = reason;
    return std::nullopt;
  }
  const Step& step(int s) const { return c_.plan.steps[static_cast<size_t>(s)]; }
  int writer(const Operand& o) const {
    const auto it = c_.writer.find(o);
    return it == c_.writer.end() ? -1 : it->second;
  }
  // A two-dimensional float32 product with constant weights, nothing but an epilogue after it.
  bool is_plain_product(int s) const;
  // Input `slot` of the activation as the sum of a product that nothing else reads, its own epilogue composed in.
  void take_product(Hidden& hidden, size_t slot, int reader);
  std::optional<Hidden> hidden_of(int s);
  std::optional<Step> fuse(const Step& second, const Hidden& hidden);

  const RewriteContext& c_;
  std::string* refusal_;
};

bool MlpMatcher::is_plain_product(int s) const {
  if (s < 0) return false;
  const Step& x = step(s);
  const Problem& p = x.variant.problem;
  if (p.kind != kind::kMatmul || MatmulParams::of(p).alpha != 1 || !declared_algorithm(p).empty() || !x.variant.source_override.empty()) return false;
  if (p.out[0].shape.size() != 2 || !p.out[0].is_dense() || !c_.graph.is_constant(x.inputs[1].value)) return false;
  return std::all_of(p.in.begin(), p.in.begin() + 2, [](const Access& a) { return a.dtype == DType::kF32; }) && p.out[0].dtype == DType::kF32;
}

// Accesses over the output's own shape as [M, H].
std::optional<Access> as_matrix(const Access& access, int64_t rows, int64_t columns) {
  return compose(Access::dense(access.dtype, {rows, columns}), access.shape, access);
}

void MlpMatcher::take_product(Hidden& hidden, size_t slot, int reader) {
  const Source& source = hidden.sources[slot];
  const int s = source.product >= 0 || hidden.products.size() == 2 ? -1 : writer(source.operand);
  if (!is_plain_product(s) || c_.sole_consumer(s) != reader || !source.access.is_dense()) return;
  const Step& product = step(s);
  const Problem& p = product.variant.problem;
  if (p.out[0].shape != source.access.shape) return;
  if (!hidden.products.empty()) {  // the second must multiply the same rows
    const Step& first = step(hidden.products[0]);
    if (first.inputs[0] != product.inputs[0] || Json(first.variant.problem.in[0]) != Json(p.in[0])) return;
  }
  std::vector<Source> inner{{static_cast<int>(hidden.products.size()), {}, {}}};
  if (const auto epilogue = epilogue_of(p)) {
    for (size_t i = 2; i < p.in.size(); ++i) inner.push_back({-1, product.inputs[i], p.in[i]});
    hidden.program = compose(hidden.program, static_cast<int>(slot), *epilogue);
  }
  hidden.sources.erase(hidden.sources.begin() + static_cast<std::ptrdiff_t>(slot));
  hidden.sources.insert(hidden.sources.begin() + static_cast<std::ptrdiff_t>(slot), inner.begin(), inner.end());
  hidden.products.push_back(s);
}

std::optional<Hidden> MlpMatcher::hidden_of(int s) {
  const Step& x = step(s);
  const Problem& p = x.variant.problem;
  Hidden hidden;
  int64_t rows = 0, columns = 0;
  if (is_plain_product(s)) {
    const auto epilogue = epilogue_of(p);
    if (!epilogue) return refuse("no activation between the products");
    hidden.program = *epilogue;
    hidden.sources.push_back({0, {}, {}});
    for (size_t i = 2; i < p.in.size(); ++i) hidden.sources.push_back({-1, x.inputs[i], p.in[i]});
    hidden.products.push_back(s);
    rows = p.out[0].shape[0], columns = p.out[0].shape[1];
  } else if (p.kind == kind::kPointwise && p.out.size() == 1 && p.out[0].is_dense() && p.out[0].dtype == DType::kF32 && !p.out[0].shape.empty()) {
    hidden.program = PointwiseParams::of(p).program;
    columns = p.out[0].shape.back();
    rows = columns == 0 ? 0 : numel(p.out[0].shape) / columns;
    for (size_t i = 0; i < p.in.size(); ++i) {
      const auto access = as_matrix(p.in[i], rows, columns);
      if (!access) return refuse("an operand of the activation cannot be read row by row");
      hidden.sources.push_back({-1, x.inputs[i], *access});
    }
  } else {
    return refuse("the rows are not made by a product and an activation");
  }
  for (size_t i = 0; i < hidden.sources.size(); ++i) take_product(hidden, i, s);
  if (hidden.products.empty()) return refuse("the activation is not of a product with constant weights that nothing else reads");
  const Step& first = step(hidden.products[0]);
  if (first.variant.problem.out[0].shape != Shape{rows, columns}) return refuse("the product has another shape than its activation");
  return hidden;
}

// The inputs of the activation in the order of the kernel: the sums first, then what is read. Empty where it reads a product twice.
std::vector<int> kernel_order(const Hidden& hidden) {
  std::vector<int> order;
  for (int product = 0; product < static_cast<int>(hidden.products.size()); ++product)
    for (size_t i = 0; i < hidden.sources.size(); ++i)
      if (hidden.sources[i].product == product) order.push_back(static_cast<int>(i));
  if (order.size() != hidden.products.size()) return {};
  for (size_t i = 0; i < hidden.sources.size(); ++i)
    if (hidden.sources[i].product < 0) order.push_back(static_cast<int>(i));
  return order;
}

// One kernel for the second product, the activation and the products that it is of, without the nodes that it covers.
std::optional<Step> MlpMatcher::fuse(const Step& second, const Hidden& hidden) {
  const bool gated = hidden.products.size() == 2;
  const Step& first = step(hidden.products[0]);
  const Problem& p = second.variant.problem;
  Step fused;
  Problem& q = fused.variant.problem;
  q.kind = kind::kFusedMlp;
  q.threads = c_.plan.threads;
  const auto add = [&](const Operand& operand, const Access& access) {
    fused.inputs.push_back(operand);
    q.in.push_back(access);
  };
  add(first.inputs[0], first.variant.problem.in[0]);
  add(first.inputs[1], first.variant.problem.in[1]);
  add(second.inputs[1], p.in[1]);
  if (gated) add(step(hidden.products[1]).inputs[1], step(hidden.products[1]).variant.problem.in[1]);
  const std::vector<int> order = kernel_order(hidden);
  if (order.empty()) return refuse("the activation reads a product twice");
  for (const Source& source : hidden.sources)
    if (source.product < 0) add(source.operand, source.access);
  FusedMlpParams{reordered(hidden.program, order), gated}.write(q);
  set_epilogue(q, epilogue_of(p));
  for (size_t i = 2; i < p.in.size(); ++i) add(second.inputs[i], p.in[i]);
  q.out = p.out;
  fused.outputs = second.outputs;
  fused.variant.knobs = c_.target.space(q).starters();
  return fused;
}

std::optional<Match> MlpMatcher::match(int anchor) {
  const Step& second = step(anchor);
  if (second.variant.problem.kind != kind::kMatmul) return refuse("no matrix product");
  if (!is_plain_product(anchor)) return refuse("not a two-dimensional float32 product with constant weights");
  const int hidden_step = writer(second.inputs[0]);
  if (hidden_step < 0 || c_.sole_consumer(hidden_step) != anchor) return refuse("its rows are read elsewhere too");
  if (!second.variant.problem.in[0].is_dense()) return refuse("its rows are not read as they were made");
  const auto hidden = hidden_of(hidden_step);
  if (!hidden) return std::nullopt;
  auto fused = fuse(second, *hidden);
  if (!fused) return std::nullopt;

  Match match;
  std::set<int> window{anchor, hidden_step};
  window.insert(hidden->products.begin(), hidden->products.end());
  match.window.steps.assign(window.begin(), window.end());
  std::set<NodeId> nodes;
  for (int s : window) nodes.insert(step(s).nodes.begin(), step(s).nodes.end());
  fused->nodes.assign(nodes.begin(), nodes.end());
  match.replacement = {*fused};
  open_knobs(c_, match, 0, {"VLEN", "MR", "NRV", "MC", "BLOCK_H", "PARTITION", "PREFETCH"});
  return match;
}

class FuseMlp final : public Rewrite {
 public:
  int tier() const override { return 4; }
  std::string_view name() const override { return "fuse_mlp"; }
  std::string_view target() const override { return "matmul, activation, matmul"; }
  std::string_view precondition() const override { return "float32, constant weights, the hidden layer is read by nothing else"; }
  bool structural() const override { return true; }
  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    return MlpMatcher(context, refusal).match(anchor);
  }
};

}  // namespace

const Rewrite* fuse_mlp() {
  static const FuseMlp rewrite;
  return &rewrite;
}

}  // namespace amdahl
