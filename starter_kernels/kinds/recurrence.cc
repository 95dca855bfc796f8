// The recurrence kind: LSTM, GRU and RNN over all steps of a sequence.
//
// in[0] = X [steps, batch, input], in[1] = W [directions, gates * hidden, input], in[2] = R [directions, gates * hidden, hidden]; then those of B [directions,
// 2 * gates * hidden], lengths [batch], the first h and c [directions, batch, hidden] and P [directions, 3 * hidden] that are there. out: those of Y [steps,
// directions, batch, hidden] and the last h and c that are wanted. With `batch_first` the batch is in front of X, Y and the states. Gates are in ONNX's order.
// A row's length is cut off at 0 and at `steps`.

#include "starter_kernels/kinds/recurrence.h"

#include "graph/graph.h"
#include "graph/recurrence_nodes.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/param_json.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

using Cell = RecurrenceParams::Cell;
using Direction = RecurrenceParams::Direction;

constexpr ChoiceNames<Cell, 3> kCells{{{"rnn", Cell::kRnn}, {"gru", Cell::kGru}, {"lstm", Cell::kLstm}}};
constexpr ChoiceNames<Direction, 3> kDirections{{{"forward", Direction::kForward}, {"reverse", Direction::kReverse}, {"both", Direction::kBoth}}};

RecurrenceParams params_of(const RecurrenceForm& form) {
  RecurrenceParams p;
  p.cell = form.cell == RecurrenceForm::Cell::kLstm ? Cell::kLstm : form.cell == RecurrenceForm::Cell::kGru ? Cell::kGru : Cell::kRnn;
  p.direction = form.directions() == 2 ? Direction::kBoth : form.reversed[0] ? Direction::kReverse : Direction::kForward;
  p.activations = form.activations;
  p.clip = form.clip;
  p.batch_first = form.batch_first;
  p.linear_before_reset = form.linear_before_reset;
  p.input_forget = form.input_forget;
  p.outputs.clear();
  return p;
}

class Recurrence final : public KernelKind {
 public:
  std::string_view name() const override { return kind::kRecurrence; }
  std::string_view summary() const override { return "all steps of an LSTM, GRU or RNN"; }
  Traits traits() const override { return {.family = Traits::Family::kProducts}; }

  Work work(const Problem& problem) const override {
    const RecurrenceSizes s(problem);
    const auto gates = static_cast<double>(s.directions * s.steps * s.batch * s.gates * s.hidden);
    Work w{gates * (2.0 * static_cast<double>(s.input + s.hidden) + 15), 0};
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    for (const Access& a : problem.out) w.bytes += operand_bytes(a);
    return w;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    if (!is_recurrence(node)) return std::nullopt;
    const RecurrenceForm form(node, graph.value(node.inputs[0]).shape, graph.value(node.inputs[2]).shape);
    if (form.batch == 0) return std::nullopt;
    RecurrenceParams params = params_of(form);
    Lowering l;
    Problem& p = l.variant.problem;
    p.kind = name();
    p.threads = threads;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      l.inputs.push_back(node.inputs[i]);
      p.in.push_back(dense_access(graph, node.inputs[i]));
      if (i >= 3) params.inputs += "blhcp"[i - 3];
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      l.outputs.push_back(node.outputs[i]);
      p.out.push_back(dense_access(graph, node.outputs[i]));
      params.outputs += "yhc"[i];
    }
    params.write(p);
    return l;
  }

  std::vector<Graph> examples() const override { return recurrence_examples(); }
};

}  // namespace

RecurrenceParams RecurrenceParams::of(const Problem& problem) {
  const Json& params = problem.params;
  RecurrenceParams p;
  p.cell = choice_named(kCells, params.at("cell").get<std::string>());
  p.direction = choice_named(kDirections, params.value("direction", "forward"));
  for (const Json& a : params.at("activations")) p.activations.push_back({a.at(0).get<std::string>(), number_of(a.at(1)), number_of(a.at(2))});
  if (params.contains("clip")) p.clip = number_of(params.at("clip"));
  p.batch_first = params.value("batch_first", false);
  p.linear_before_reset = params.value("linear_before_reset", false);
  p.input_forget = params.value("input_forget", false);
  p.inputs = params.value("inputs", "");
  p.outputs = params.value("outputs", "y");
  return p;
}

void RecurrenceParams::write(Problem& problem) const {
  Json& params = problem.params;
  params["cell"] = name_of_choice(kCells, cell);
  put_param(params, "direction", direction != Direction::kForward, name_of_choice(kDirections, direction));
  params["activations"] = Json::array();
  for (const RecurrentActivation& a : activations) params["activations"].push_back(Json::array({a.name, number_json(a.alpha), number_json(a.beta)}));
  put_param(params, "clip", clip != HUGE_VAL, number_json(clip));
  put_param(params, "batch_first", batch_first, true);
  put_param(params, "linear_before_reset", linear_before_reset, true);
  put_param(params, "input_forget", input_forget, true);
  put_param(params, "inputs", !inputs.empty(), inputs);
  put_param(params, "outputs", outputs != "y", outputs);
}

RecurrenceSizes::RecurrenceSizes(const Problem& p)
    : steps(p.in[0].shape[RecurrenceParams::of(p).batch_first ? 1 : 0]),
      batch(p.in[0].shape[RecurrenceParams::of(p).batch_first ? 0 : 1]),
      input(p.in[0].shape[2]),
      hidden(p.in[2].shape[2]),
      directions(p.in[2].shape[0]),
      gates(RecurrenceParams::of(p).gates()) {}

const KernelKind* recurrence_kind() {
  static const Recurrence kind;
  return &kind;
}

}  // namespace amdahl
