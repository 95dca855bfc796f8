#include "plan/integer_sums.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "plan/fusion.h"
#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {
namespace {

constexpr int kNone = -1, kSeveral = -2;

// The step that alone reads each operand; kSeveral where there are more, or the model's user does.
std::map<Operand, int> sole_readers(const Graph& graph, const Plan& plan) {
  std::map<Operand, int> readers;
  const std::vector<ValueId> storage = storage_of(graph);
  for (ValueId v : graph.outputs) readers[{storage[static_cast<size_t>(v)], ""}] = kSeveral;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    for (const Operand& o : std::set<Operand>(plan.steps[s].inputs.begin(), plan.steps[s].inputs.end())) {
      const auto [at, is_new] = readers.try_emplace(o, static_cast<int>(s));
      if (!is_new) at->second = kSeveral;
    }
  return readers;
}

bool sums_bytes(const Graph& graph, const Step& step) {
  const Node& node = graph.node(step.nodes[0]);
  return step.nodes.size() == 1 && node.domain.empty() && (node.op == "MatMulInteger" || node.op == "ConvInteger");
}

// What still belongs to the sum: integers, products and sums with constants or single numbers, and what stands between them and the next quantization.
bool finishes(const Graph& graph, const Step& sum, const Step& consumer) {
  static const std::set<std::string_view> kKnown{"Sub", "Add", "Mul", "Cast", "Relu", "Clip", "QuantizeLinear"};
  const Node& node = graph.node(consumer.nodes[0]);
  if (!node.domain.empty() || !kKnown.count(node.op)) return false;
  if (!is_float(sum.variant.problem.out[0].dtype)) return sum.variant.problem.out[0].dtype == DType::kI32;
  return std::all_of(consumer.inputs.begin(), consumer.inputs.end(),
                     [&](const Operand& o) { return o == sum.outputs[0] || graph.is_constant(o.value) || numel(graph.value(o.value).shape) == 1; });
}

}  // namespace

void finish_integer_sums(const Graph& graph, const Target& target, Plan& plan) {
  const std::map<Operand, int> readers = sole_readers(graph, plan);
  const auto reader_of = [&](const Operand& o) {
    const auto at = readers.find(o);
    return at == readers.end() ? kNone : at->second;
  };
  std::vector<bool> taken(plan.steps.size(), false);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (taken[s] || !sums_bytes(graph, plan.steps[s])) continue;
    Step sum = plan.steps[s];
    auto at = s;  // where its last operand is there
    for (int next = reader_of(sum.outputs[0]); next >= 0; next = reader_of(sum.outputs[0])) {
      const Step& consumer = plan.steps[static_cast<size_t>(next)];
      const auto longer = finishes(graph, sum, consumer) ? absorb_consumer(sum, consumer, nullptr) : std::nullopt;
      if (!longer) break;
      taken[at] = true;
      sum = *longer;
      at = static_cast<size_t>(next);
    }
    if (at == s) continue;
    sum.variant.knobs = target.space(sum.variant.problem).starters();
    plan.steps[at] = std::move(sum);
  }
  std::vector<Step> left;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (!taken[s]) left.push_back(std::move(plan.steps[s]));
  plan.steps = std::move(left);
}

}  // namespace amdahl
