// The cross_entropy kind: SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss.
//
// in[0]: scores [N, C, positions …]; in[1]: labels, any integer type; in[2]: weights [C], if weighted. out[0]: the
// loss; out[1]: log-probabilities, if wanted.

#include "starter_kernels/kinds/cross_entropy.h"

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

using Reduction = CrossEntropyParams::Reduction;

constexpr ChoiceNames<Reduction, 3> kReductions{{{"mean", Reduction::kMean}, {"sum", Reduction::kSum}, {"none", Reduction::kNone}}};

class CrossEntropy final : public KernelKind {
 public:
  std::string_view name() const override { return kind::kCrossEntropy; }
  std::string_view summary() const override { return "softmax cross-entropy of scores against class numbers"; }
  Traits traits() const override { return {.family = Traits::Family::kRows}; }

  Work work(const Problem& problem) const override {
    Work w{20.0 * static_cast<double>(numel(problem.in[0].shape)), 0};
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    for (const Access& a : problem.out) w.bytes += operand_bytes(a);
    return w;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    const bool logarithms = node.op == "NegativeLogLikelihoodLoss";
    if (!node.domain.empty() || (node.op != "SoftmaxCrossEntropyLoss" && !logarithms)) return std::nullopt;
    if (graph.value(node.inputs[0]).dtype == DType::kF64) return std::nullopt;
    Lowering l;
    Problem& p = l.variant.problem;
    for (ValueId v : node.inputs)
      if (v != kNoValue) l.inputs.push_back(v), p.in.push_back(dense_access(graph, v));
    for (ValueId v : node.outputs)
      if (v != kNoValue) l.outputs.push_back(v), p.out.push_back(dense_access(graph, v));
    if (node.outputs[0] == kNoValue) return std::nullopt;
    p.kind = name();
    p.threads = threads;
    CrossEntropyParams params;
    params.reduction = choice_named(kReductions, node.attr_string("reduction", "mean"));
    if (node.has("ignore_index")) params.ignore_index = node.attr_int("ignore_index", 0);
    params.logarithms = logarithms;
    params.weighted = p.in.size() > 2;
    params.write(p);
    return l;
  }

  std::vector<Graph> examples() const override { return row_examples(name()); }
};

}  // namespace

CrossEntropyParams CrossEntropyParams::of(const Problem& problem) {
  const Json& params = problem.params;
  CrossEntropyParams p;
  p.reduction = choice_named(kReductions, params.at("reduction").get<std::string>());
  if (params.contains("ignore_index")) p.ignore_index = params.at("ignore_index").get<int64_t>();
  p.logarithms = params.value("logarithms", false);
  p.weighted = params.value("weighted", false);
  return p;
}

void CrossEntropyParams::write(Problem& problem) const {
  Json& params = problem.params;
  params["reduction"] = name_of_choice(kReductions, reduction);
  put_param(params, "ignore_index", ignore_index.has_value(), ignore_index.value_or(0));
  put_param(params, "logarithms", logarithms, true);
  put_param(params, "weighted", weighted, true);
}

const KernelKind* cross_entropy_kind() {
  static const CrossEntropy kind;
  return &kind;
}

}  // namespace amdahl
