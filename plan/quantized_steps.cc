#include "plan/quantized_steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "plan/fusion.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {
namespace {

bool is_byte(DType type) { return type == DType::kU8 || type == DType::kI8; }

// x / s that is rounded to an integer next, where s is read (not computed): x times the reciprocal of s.
void with_reciprocals(PointwiseProgram& program) {
  const PointwiseProgram before = program;
  program.ops.clear();
  std::vector<int> number(static_cast<size_t>(before.inputs));
  std::iota(number.begin(), number.end(), 0);
  const auto add = [&](PointwiseOp op) {
    program.ops.push_back(std::move(op));
    return program.inputs + static_cast<int>(program.ops.size()) - 1;
  };
  for (size_t k = 0; k < before.ops.size(); ++k) {
    PointwiseOp op = before.ops[k];
    const int value = before.inputs + static_cast<int>(k);
    const bool is_rounded = std::any_of(before.ops.begin(), before.ops.end(), [&](const PointwiseOp& o) { return o.op == "round" && o.args[0] == value; });
    const bool by_reciprocal = op.op == "div" && op.type == DType::kF32 && is_rounded && op.args[1] < before.inputs;
    for (int& arg : op.args) arg = number[static_cast<size_t>(arg)];
    if (by_reciprocal) {
      op.args[1] = add({"reciprocal", {op.args[1]}, DType::kF32});
      op.op = "mul";
    }
    number.push_back(add(std::move(op)));
  }
  for (int& result : program.results) result = number[static_cast<size_t>(result)];
}

// Numbers that were rounded and clipped to bytes are floats still: to make bytes and floats of them again takes as long as all the rest. A NaN, of which a byte
// makes 0, stays one.
void leave_rounded_floats(PointwiseProgram& program) {
  const auto op_of = [&](int value) { return value < program.inputs ? nullptr : &program.ops[static_cast<size_t>(value - program.inputs)]; };
  const auto is_rounded = [&](int value, DType type) {
    const PointwiseOp* clip = op_of(value);
    if (!clip || clip->op != "clip" || clip->type != DType::kF32) return false;
    const PointwiseOp *least = op_of(clip->args[1]), *greatest = op_of(clip->args[2]);
    const auto [low, high] = type == DType::kU8 ? std::pair(0.0, 255.0) : std::pair(-128.0, 127.0);
    if (!least || !greatest || least->op != "const" || greatest->op != "const" || least->imm != low || greatest->imm != high) return false;
    const PointwiseOp* x = op_of(clip->args[0]);
    if (x && x->op == "add") x = op_of(x->args[0]);  // a zero point, which is an integer
    return x && x->op == "round";
  };
  std::map<int, int> same;
  for (size_t k = 0; k < program.ops.size(); ++k) {
    PointwiseOp& op = program.ops[k];
    for (int& arg : op.args)
      if (const auto at = same.find(arg); at != same.end()) arg = at->second;
    const PointwiseOp* byte = op.op == "cast" && op.type == DType::kF32 ? op_of(op.args[0]) : nullptr;
    if (byte && byte->op == "cast" && is_byte(byte->type) && is_rounded(byte->args[0], byte->type)) same[program.inputs + static_cast<int>(k)] = byte->args[0];
  }
  for (int& result : program.results)
    if (const auto at = same.find(result); at != same.end()) result = at->second;
}

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

  // Numbers stay floats between two quantizations. A division takes as long as ten multiplications: of 802,816 sums of resnet50's first convolution, two threads of a Sapphire Rapids, 0.25 of 0.8 ms. QuantizeLinear
  // allows for the rounding of the reciprocal (graph/ops/quantization.cc); one that stands alone divides, as the standard says it.
  void shorten_programs() {
    for (std::optional<Step>& step : steps_) {
      if (!step || step->nodes.size() < 2) continue;
      Problem& p = step->variant.problem;
      if (auto epilogue = epilogue_of(p)) {
        leave_rounded_floats(*epilogue);
        with_reciprocals(*epilogue);
        set_epilogue(p, epilogue);
      } else if (p.kind == kind::kPointwise) {
        PointwiseParams params = PointwiseParams::of(p);
        leave_rounded_floats(params.program);
        with_reciprocals(params.program);
        params.write(p);
      }
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
