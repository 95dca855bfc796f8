#include "graph/op.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/printable.h"
#include "graph/check_signature.h"

namespace amdahl {

RefTensor RefTensor::of(const Tensor& t) {
  RefTensor r;
  r.dtype = t.dtype();
  r.shape = t.shape();
  if (amdahl::is_float(t.dtype())) r.value = to_doubles(t);
  else r.ints = to_ints(t);
  return r;
}

Tensor RefTensor::to_tensor() const { return is_float() ? from_doubles(dtype, shape, value) : from_ints(dtype, shape, ints); }

const Value& InferContext::input(size_t i) const {
  if (!has_input(i)) throw Refusal(fmt::format("input {} is missing", i));
  return graph_.value(node.inputs[i]);
}

const Tensor& InferContext::constant(size_t i, const char* what) const {
  const Value& v = input(i);
  if (!v.constant) throw Refusal(fmt::format("{} (input '{}') depends on the data; only constants are supported", what, shown(v.name)));
  return *v.constant;
}

std::vector<int64_t> InferContext::constant_ints(size_t i, const char* what) const { return to_ints(constant(i, what)); }

int64_t InferContext::normalized_axis(int64_t axis, size_t rank) const {
  const auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) throw Refusal(fmt::format("axis {} is out of range for rank {}", axis, rank));
  return axis < 0 ? axis + r : axis;
}

void require_possible(const Shape& shape, DType dtype) {
  if (shape.size() > kMaxRank) throw Refusal(fmt::format("{} dimensions, at most {} are supported", shape.size(), kMaxRank));
  const std::optional<int64_t> n = checked_numel(shape, dtype);
  if (!n) throw Refusal(fmt::format("shape {} is impossible or too large", to_string(shape)));
  const double bytes = static_cast<double>(*n) * static_cast<double>(size_of(dtype)), memory = static_cast<double>(this_machine().memory_bytes);
  if (bytes > memory)
    throw Refusal(fmt::format("shape {} is too large: it needs {:.1f} GiB, this machine has {:.1f}", to_string(shape), bytes / 0x1p30, memory / 0x1p30));
}

void InferContext::set_output(size_t i, DType dtype, Shape shape) {
  require_possible(shape, dtype);
  if (i >= outputs_.size()) return;  // an optional output that nobody named
  outputs_[i] = {dtype, std::move(shape), true};
}

const OpDef* find_op(std::string_view domain, std::string_view name) {
  for (const OpDef& op : op_list())
    if (op.domain == domain && op.name == name) return &op;
  return nullptr;
}

std::vector<InferContext::Output> infer_node(const Graph& graph, const Node& node) {
  const OpDef* op = find_op(node.domain, node.op);
  if (!op) throw Refusal("unknown operator");
  check_signature(*op, graph, node);
  InferContext context(graph, node);
  try {
    op->infer(context);
  } catch (const std::invalid_argument& e) {
    throw Refusal(e.what());
  }
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue && !context.outputs()[i].set) throw Refusal(fmt::format("output {} is not supported", i));
  return context.outputs();
}

}  // namespace amdahl
