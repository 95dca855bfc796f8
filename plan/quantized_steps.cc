#include "plan/quantized_steps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "plan/fusion.h"
#include "plan/quantized_programs.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {
namespace {

// A plan whose steps take others into them; those that were taken are left out in the end.
class JoinedSteps {
 public:
  JoinedSteps(const Graph& graph, const Target& target, Plan& plan) : graph_(graph), target_(target), plan_(plan) {
    for (Step& step : plan.steps) steps_.push_back(std::move(step));
    const std::vector<ValueId> storage = storage_of(graph);
    for (ValueId v : graph.outputs) results_.insert({storage[static_cast<size_t>(v)], ""});
    for (size_t s = 0; s < steps_.size(); ++s) note(s);
  }

  // Dequantizations are computed again wherever their numbers are read, which is a fourth of the bytes.
  void take_dequantizations() {
    for (size_t s = 0; s < steps_.size(); ++s)
      if (steps_[s] && covers_one(s, "DequantizeLinear") && is_byte(steps_[s]->variant.problem.in[0].dtype)) give_to_readers(s);
  }

  // What a quantization alone reads.
  void take_what_is_quantized() {
    for (size_t s = 0; s < steps_.size(); ++s) {
      if (!steps_[s] || !covers_one(s, "QuantizeLinear")) continue;
      for (bool changed = true; changed;) {
        changed = false;
        for (const Operand& o : std::vector<Operand>(steps_[s]->inputs)) {
          const auto writer = writer_.find(o);
          if (writer == writer_.end() || sole_reader(o) != s) continue;
          const Step& producer = *steps_[writer->second];
          if (producer.variant.problem.kind != kind::kPointwise || covers_one(writer->second, "QuantizeLinear")) continue;
          if (const auto longer = absorb_producer(*steps_[s], producer, nullptr)) {
            take(writer->second);
            put(s, *longer);
            changed = true;
            break;
          }
        }
      }
    }
  }

  // In order, so that an addition of two sums is the second one's.
  void finish_sums() {
    for (size_t s = 0; s < steps_.size(); ++s) {
      if (!steps_[s] || !sums_bytes(*steps_[s])) continue;
      for (size_t at = s;;) {
        const std::optional<size_t> next = sole_reader(steps_[at]->outputs[0]);
        const auto longer = next && finishes(*steps_[at], *steps_[*next]) ? absorb_consumer(*steps_[at], *steps_[*next], nullptr) : std::nullopt;
        if (!longer) break;
        take(at);
        put(*next, *longer);  // where its last operand is there
        at = *next;
      }
    }
  }

  void shorten_programs() {
    for (std::optional<Step>& step : steps_) {
      if (!step || step->nodes.size() < 2) continue;
      Problem& p = step->variant.problem;
      if (const auto epilogue = epilogue_of(p)) set_epilogue(p, shortened_quantizations(*epilogue));
      else if (p.kind == kind::kPointwise) PointwiseParams{shortened_quantizations(PointwiseParams::of(p).program)}.write(p);
    }
  }

  void give_back() {
    plan_.steps.clear();
    for (std::optional<Step>& step : steps_)
      if (step) plan_.steps.push_back(std::move(*step));
  }

 private:
  bool covers_one(size_t s, std::string_view op) const {
    const std::vector<NodeId>& nodes = steps_[s]->nodes;
    return !nodes.empty() && graph_.node(nodes.back()).domain.empty() && graph_.node(nodes.back()).op == op &&
           steps_[s]->variant.problem.kind == kind::kPointwise;
  }
  static bool sums_bytes(const Step& step) {
    const Problem& p = step.variant.problem;
    return (p.kind == kind::kMatmul || p.kind == kind::kConv) && is_byte(p.in[0].dtype) && is_byte(p.in[1].dtype);
  }

  // What still belongs to a sum: integers, products and sums with constants or single numbers, and what stands between them and the next quantization; then bytes
  // that are added.
  bool finishes(const Step& sum, const Step& consumer) const {
    static const std::set<std::string_view> kKnown{"Sub", "Add", "Mul", "Cast", "Relu", "Clip", "QuantizeLinear", "DequantizeLinear"};
    const auto is_known = [&](NodeId n) { return graph_.node(n).domain.empty() && kKnown.count(graph_.node(n).op) > 0; };
    if (!std::all_of(consumer.nodes.begin(), consumer.nodes.end(), is_known)) return false;
    const DType type = sum.variant.problem.out[0].dtype, result = consumer.variant.problem.out[0].dtype;
    if (type == DType::kI32) return true;
    return std::all_of(consumer.inputs.begin(), consumer.inputs.end(), [&](const Operand& o) {
      const Value& value = graph_.value(o.value);
      return o == sum.outputs[0] || value.constant || numel(value.shape) == 1 || (is_byte(result) && is_byte(value.dtype));
    });
  }

  void give_to_readers(size_t s) {
    const Step producer = *steps_[s];
    if (results_.count(producer.outputs[0])) return;
    const std::set<size_t> readers = readers_[producer.outputs[0]];
    std::map<size_t, Step> longer;
    for (size_t r : readers) {
      const auto step = steps_[r]->variant.problem.kind == kind::kPointwise ? absorb_producer(*steps_[r], producer, nullptr) : std::nullopt;
      if (!step) return;
      longer[r] = *step;
    }
    take(s);
    for (auto& [r, step] : longer) put(r, std::move(step));
  }

  std::optional<size_t> sole_reader(const Operand& o) const {
    const auto at = readers_.find(o);
    if (at == readers_.end() || at->second.size() != 1 || results_.count(o)) return std::nullopt;
    return *at->second.begin();
  }
  void note(size_t s) {
    for (const Operand& o : steps_[s]->inputs) readers_[o].insert(s);
    for (const Operand& o : steps_[s]->outputs) writer_[o] = s;
  }
  void forget(size_t s) {
    for (const Operand& o : steps_[s]->inputs) readers_[o].erase(s);
    for (const Operand& o : steps_[s]->outputs) writer_.erase(o);
  }
  void take(size_t s) {
    forget(s);
    steps_[s].reset();
  }
  void put(size_t s, Step step) {
    forget(s);
    step.variant.knobs = target_.space(step.variant.problem).starters();
    steps_[s] = std::move(step);
    note(s);
  }

  const Graph& graph_;
  const Target& target_;
  Plan& plan_;
  std::vector<std::optional<Step>> steps_;
  std::set<Operand> results_;
  std::map<Operand, std::set<size_t>> readers_;
  std::map<Operand, size_t> writer_;
};

bool has_bytes(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.domain.empty() && (node.op == "MatMulInteger" || node.op == "ConvInteger" || node.op == "QuantizeLinear" || node.op == "DequantizeLinear");
  });
}

}  // namespace

void join_quantized_steps(const Graph& graph, const Target& target, Plan& plan) {
  if (!has_bytes(graph)) return;
  JoinedSteps steps(graph, target, plan);
  steps.take_dequantizations();
  steps.take_what_is_quantized();
  steps.finish_sums();
  steps.shorten_programs();
  steps.give_back();
}

}  // namespace amdahl
