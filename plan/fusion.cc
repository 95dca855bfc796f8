#include "plan/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {
namespace {

constexpr size_t kMostInputs = 24, kMostOps = 96;  // beyond, registers spill and compilers slow down

bool same(const Access& a, const Access& b) { return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.offset == b.offset; }

// Over one shape: dimensions of one element may have any stride.
bool same_places(const Access& a, const Access& b) {
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] != 1 && a.strides[d] != b.strides[d]) return false;
  return a.offset == b.offset;
}

std::nullopt_t refuse(std::string* refusal, std::string reason) {
  if (refusal) *refusal = std::move(reason);
  return std::nullopt;
}

PointwiseProgram identity(DType type) { return {1, {type}, {{"identity", {0}, type}}, {1}}; }

double elements(const Access& a) { return static_cast<double>(numel(a.shape)); }

// Inputs renumbered: input i becomes number[i] of `count`.
PointwiseProgram with_inputs(const PointwiseProgram& p, const std::vector<int>& number, int count) {
  PointwiseProgram out;
  out.inputs = count;
  out.input_types.resize(static_cast<size_t>(count));
  for (size_t i = 0; i < number.size(); ++i) out.input_types[static_cast<size_t>(number[i])] = p.input_types[i];
  const auto moved = [&](int v) { return v < p.inputs ? number[static_cast<size_t>(v)] : v - p.inputs + count; };
  out.ops = p.ops;
  for (PointwiseOp& op : out.ops)
    for (int& a : op.args) a = moved(a);
  for (int r : p.results) out.results.push_back(moved(r));
  return out;
}

// Equal inputs become the first of them.
void merge_inputs(Expression& e) {
  std::vector<int> number;
  Expression out;
  for (size_t i = 0; i < e.from.size(); ++i) {
    size_t k = 0;
    while (k < out.from.size() && !(out.from[k] == e.from[i] && same(out.access[k], e.access[i]))) ++k;
    if (k == out.from.size()) out.from.push_back(e.from[i]), out.access.push_back(e.access[i]);
    number.push_back(static_cast<int>(k));
  }
  out.program = with_inputs(e.program, number, static_cast<int>(out.from.size()));
  e = std::move(out);
}

// Equal operations become the first of them; identities become what they copy.
void merge_operations(PointwiseProgram& p) {
  std::vector<int> number(static_cast<size_t>(p.inputs));
  std::iota(number.begin(), number.end(), 0);
  std::vector<PointwiseOp> ops;
  for (PointwiseOp op : p.ops) {
    for (int& a : op.args) a = number[static_cast<size_t>(a)];
    if (op.op == "identity") {
      number.push_back(op.args[0]);
      continue;
    }
    const std::string key = Json(op).dump();
    size_t k = 0;
    while (k < ops.size() && Json(ops[k]).dump() != key) ++k;
    if (k == ops.size()) ops.push_back(std::move(op));
    number.push_back(p.inputs + static_cast<int>(k));
  }
  p.ops = std::move(ops);
  for (int& r : p.results) r = number[static_cast<size_t>(r)];
}

void drop_unused(Expression& e) {
  PointwiseProgram& p = e.program;
  std::vector<bool> used(static_cast<size_t>(p.inputs) + p.ops.size(), false);
  for (int r : p.results) used[static_cast<size_t>(r)] = true;
  for (size_t k = p.ops.size(); k-- > 0;)
    if (used[static_cast<size_t>(p.inputs) + k])
      for (int a : p.ops[k].args) used[static_cast<size_t>(a)] = true;
  std::vector<int> number(used.size(), -1);
  PointwiseProgram out;
  Expression kept;
  for (size_t i = 0; i < e.from.size(); ++i) {
    if (!used[i]) continue;
    number[i] = out.inputs++;
    out.input_types.push_back(p.input_types[i]);
    kept.from.push_back(e.from[i]);
    kept.access.push_back(e.access[i]);
  }
  for (size_t k = 0; k < p.ops.size(); ++k) {
    if (!used[static_cast<size_t>(p.inputs) + k]) continue;
    PointwiseOp op = p.ops[k];
    for (int& a : op.args) a = number[static_cast<size_t>(a)];
    number[static_cast<size_t>(p.inputs) + k] = out.inputs + static_cast<int>(out.ops.size());
    out.ops.push_back(std::move(op));
  }
  for (int r : p.results) out.results.push_back(number[static_cast<size_t>(r)]);
  // A program that only passes its input on still needs an operation to be one.
  if (out.ops.empty()) {
    out.ops.push_back({"identity", {out.results[0]}, out.input_types[static_cast<size_t>(out.results[0])]});
    out.results[0] = out.inputs;
  }
  kept.program = std::move(out);
  e = std::move(kept);
}

// x sigmoid(x) is one operation, a division and an exponential that need not know their limits. Its NaN at -infinity is the product's.
// Not a rewrite of its own: each of a network's convolutions would need an experiment, and a proof, for it.
void close_silu(PointwiseProgram& program) {
  for (PointwiseOp& product : program.ops)
    if (product.op == "mul" && is_float(product.type))
      for (size_t i : {0u, 1u}) {
        const int x = product.args[i], gate = product.args[1 - i] - program.inputs;
        if (gate < 0) continue;
        const PointwiseOp& by = program.ops[static_cast<size_t>(gate)];
        if (by.op != "sigmoid" || by.type != product.type || by.args[0] != x) continue;
        product = {"swish_product", {x}, product.type};
        break;
      }
}

std::vector<NodeId> together(const Step& a, const Step& b) {
  std::set<NodeId> nodes(a.nodes.begin(), a.nodes.end());
  nodes.insert(b.nodes.begin(), b.nodes.end());
  return {nodes.begin(), nodes.end()};
}

bool is_plain_pointwise(const Step& step) {
  return step.variant.problem.kind == kind::kPointwise && step.outputs.size() == 1 && step.variant.source_override.empty();
}

bool row_major_everywhere(const Step& step) {
  for (const auto* list : {&step.inputs, &step.outputs})
    for (const Operand& o : *list)
      if (!o.format.empty()) return false;
  return true;
}

}  // namespace

Expression expression_of(const Step& step) {
  const Problem& p = step.variant.problem;
  Expression e;
  const size_t count = p.kind == kind::kPointwise ? p.in.size() : prologue_inputs(p);
  e.from.assign(step.inputs.begin(), step.inputs.begin() + static_cast<ptrdiff_t>(count));
  e.access.assign(p.in.begin(), p.in.begin() + static_cast<ptrdiff_t>(count));
  if (p.kind == kind::kPointwise) e.program = PointwiseParams::of(p).program;
  else if (auto prologue = prologue_of(p)) e.program = std::move(*prologue);
  else e.program = identity(p.in[0].dtype);
  return e;
}

void set_expression(Step& step, Expression e) {
  Problem& p = step.variant.problem;
  const size_t count = p.kind == kind::kPointwise ? p.in.size() : prologue_inputs(p);
  e.from.insert(e.from.end(), step.inputs.begin() + static_cast<ptrdiff_t>(count), step.inputs.end());
  e.access.insert(e.access.end(), p.in.begin() + static_cast<ptrdiff_t>(count), p.in.end());
  step.inputs = std::move(e.from);
  p.in = std::move(e.access);
  if (p.kind == kind::kPointwise) PointwiseParams{std::move(e.program)}.write(p);
  else set_prologue(p, e.program);
}

void simplify(Expression& expression) {
  merge_inputs(expression);
  merge_operations(expression.program);
  close_silu(expression.program);
  drop_unused(expression);
}

std::optional<Step> absorb_producer(const Step& reader, const Step& producer, std::string* refusal) {
  if (!is_plain_pointwise(producer)) return refuse(refusal, "the producer is not a pointwise step with one output");
  if (!traits_of(reader.variant.problem).has_expression) return refuse(refusal, "the reader's kind has no prologue");
  if (!reader.variant.source_override.empty()) return refuse(refusal, "the kernel's text was edited");
  if (!row_major_everywhere(reader) || !row_major_everywhere(producer)) return refuse(refusal, "blocked formats");
  const Operand& made = producer.outputs[0];
  const Problem& from = producer.variant.problem;
  Expression e = expression_of(reader);
  for (size_t i = e.from.size(); i < reader.inputs.size(); ++i)
    if (reader.inputs[i] == made) return refuse(refusal, "also read outside of the prologue");
  const Expression inner = expression_of(producer);
  merge_inputs(e);
  for (size_t slot = 0; slot < e.from.size();) {
    if (!(e.from[slot] == made)) {
      ++slot;
      continue;
    }
    if (elements(e.access[slot]) > elements(from.out[0])) return refuse(refusal, "the reader broadcasts it: it would be computed several times");
    std::vector<Access> carried;
    for (const Access& a : inner.access) {
      const auto access = carry_over(from.out[0], a, e.access[slot]);
      if (!access) return refuse(refusal, "its operands cannot be read in the reader's order by strides");
      carried.push_back(*access);
    }
    Expression next;
    next.program = compose(e.program, static_cast<int>(slot), inner.program);
    next.from.assign(e.from.begin(), e.from.begin() + static_cast<ptrdiff_t>(slot));
    next.access.assign(e.access.begin(), e.access.begin() + static_cast<ptrdiff_t>(slot));
    next.from.insert(next.from.end(), inner.from.begin(), inner.from.end());
    next.access.insert(next.access.end(), carried.begin(), carried.end());
    next.from.insert(next.from.end(), e.from.begin() + static_cast<ptrdiff_t>(slot) + 1, e.from.end());
    next.access.insert(next.access.end(), e.access.begin() + static_cast<ptrdiff_t>(slot) + 1, e.access.end());
    slot += inner.from.size();
    e = std::move(next);
  }
  simplify(e);
  if (e.from.size() > kMostInputs || e.program.ops.size() > kMostOps) return refuse(refusal, "the expression becomes too large");
  // The element type of a row is that of its input: a prologue must not change it.
  if (reader.variant.problem.kind != kind::kPointwise && e.access.empty()) return refuse(refusal, "nothing would be read any more");
  Step step = reader;
  set_expression(step, std::move(e));
  step.nodes = together(reader, producer);
  return step;
}

namespace {

// "" or why the producer's kernel cannot take the consumer's expression whatever that reads.
std::string keeps_apart(const Step& producer, const Step& consumer) {
  if (!is_plain_pointwise(consumer)) return "the consumer is not a pointwise step with one output";
  if (!traits_of(producer.variant.problem).has_epilogue) return "the producer's kind has no epilogue";
  if (producer.outputs.size() != 1) return "the producer has several outputs";
  if (!producer.variant.source_override.empty()) return "the kernel's text was edited";
  if (!row_major_everywhere(producer) || !row_major_everywhere(consumer)) return "blocked formats";
  const Access &after = consumer.variant.problem.out[0], &out = producer.variant.problem.out[0];
  // Sums of bytes are int32, whatever becomes of them.
  if (after.dtype != out.dtype && accumulator_of(producer.variant.problem.in[0].dtype) != DType::kI32) return "the result has another element type";
  if (elements(after) != elements(out)) return "the consumer broadcasts: it has more elements";
  return "";
}

// The epilogue so far, or none, in the place of input `slot` of the consumer's expression: over the raw result first, then what the epilogue reads
// already, then what the consumer adds. nullopt where that cannot be read by strides in the producer's order.
std::optional<Expression> longer_epilogue(const Step& producer, const Expression& consumer, size_t slot) {
  const Problem& p = producer.variant.problem;
  const Access& out = p.out[0];
  const PointwiseProgram before = epilogue_of(p).value_or(identity(out.dtype));
  const size_t old_extras = static_cast<size_t>(before.inputs) - 1, base = p.in.size() - old_extras;
  Expression epilogue;
  epilogue.from = {Operand{kNoValue, "raw"}};  // an operand that stands for the raw result keeps it input 0 while the program is tidied up
  epilogue.access = {out};
  epilogue.from.insert(epilogue.from.end(), producer.inputs.begin() + static_cast<ptrdiff_t>(base), producer.inputs.end());
  epilogue.access.insert(epilogue.access.end(), p.in.begin() + static_cast<ptrdiff_t>(base), p.in.end());
  std::vector<int> number;  // of each input of the composition, which has the epilogue's own at the slot
  for (size_t i = 0; i < consumer.from.size(); ++i) {
    if (i == slot) {
      for (int k = 0; k <= static_cast<int>(old_extras); ++k) number.push_back(k);
      continue;
    }
    number.push_back(static_cast<int>(epilogue.from.size()));
    const auto access = carry_over(consumer.access[slot], consumer.access[i], out);
    if (!access) return std::nullopt;
    epilogue.from.push_back(consumer.from[i]);
    epilogue.access.push_back(*access);
  }
  const int inputs = static_cast<int>(epilogue.from.size());
  epilogue.program = with_inputs(compose(consumer.program, static_cast<int>(slot), before), number, inputs);
  simplify(epilogue);
  return epilogue;
}

// The operands of an epilogue stand behind the kernel's own.
void replace_epilogue(Step& step, const Expression& epilogue) {
  Problem& p = step.variant.problem;
  const size_t old_extras = epilogue_extras(p);
  step.inputs.resize(step.inputs.size() - old_extras);
  p.in.resize(p.in.size() - old_extras);
  step.inputs.insert(step.inputs.end(), epilogue.from.begin() + 1, epilogue.from.end());
  p.in.insert(p.in.end(), epilogue.access.begin() + 1, epilogue.access.end());
  set_epilogue(p, epilogue.program);
}

}  // namespace

std::optional<Step> absorb_consumer(const Step& producer, const Step& consumer, std::string* refusal) {
  if (std::string why = keeps_apart(producer, consumer); !why.empty()) return refuse(refusal, std::move(why));
  const Operand& made = producer.outputs[0];
  const Access& out = producer.variant.problem.out[0];
  Expression e = expression_of(consumer);
  merge_inputs(e);
  if (std::count(e.from.begin(), e.from.end(), made) != 1) return refuse(refusal, "read through different views");
  const auto slot = static_cast<size_t>(std::find(e.from.begin(), e.from.end(), made) - e.from.begin());
  const auto written = carry_over(e.access[slot], consumer.variant.problem.out[0], out);
  if (!written || !same_places(*written, out)) return refuse(refusal, "the consumer writes in another order");
  const auto epilogue = longer_epilogue(producer, e, slot);
  if (!epilogue) return refuse(refusal, "an operand cannot be read in the producer's order by strides");
  if (epilogue->from.empty() || epilogue->from[0].format != "raw") return refuse(refusal, "the result does not depend on the producer");
  if (epilogue->from.size() > kMostInputs || epilogue->program.ops.size() > kMostOps) return refuse(refusal, "the expression becomes too large");
  Step step = producer;
  replace_epilogue(step, *epilogue);
  step.variant.problem.out[0].dtype = consumer.variant.problem.out[0].dtype;
  step.outputs = consumer.outputs;
  step.nodes = together(producer, consumer);
  return step;
}

}  // namespace amdahl
