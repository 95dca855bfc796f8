#include "graph/expansion.h"

#include <fmt/format.h>

#include <numeric>

#include "base/printable.h"
#include "graph/onnx_types.h"

namespace amdahl {

ValueId Expansion::in(size_t i) const {
  if (!has_input(i)) throw Refusal(fmt::format("input {} is missing", i));
  return node.inputs[i];
}

const Tensor* Expansion::constant_of(ValueId v) const {
  const auto& constant = graph_.value(v).constant;
  return constant ? &*constant : nullptr;
}

const Tensor& Expansion::constant_in(size_t i, const char* what) const {
  const Tensor* tensor = constant_of(in(i));
  if (!tensor) throw Refusal(fmt::format("{} (input '{}') depends on the data; only constants are supported", what, shown(graph_.value(in(i)).name)));
  return *tensor;
}

int64_t Expansion::dim(ValueId v, size_t i) const {
  const Shape& s = graph_.value(v).shape;
  if (i >= s.size()) throw Refusal(fmt::format("an input of shape {} has no dimension {}", to_string(s), i));
  return s[i];
}

int64_t Expansion::constant_number(size_t i, const char* what) const {
  const std::vector<int64_t> all = to_ints(constant_in(i, what));
  if (all.size() != 1) throw Refusal(fmt::format("{} must be one number", what));
  return all[0];
}

size_t Expansion::axis_of(int64_t axis, size_t rank, const char* what) {
  const auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) throw Refusal(fmt::format("{} {} is out of range for rank {}", what, axis, rank));
  return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

ValueId Expansion::constant(const std::string& what, Tensor tensor) {
  return graph_.add_constant(fmt::format("{}/{}_{}", node.name, what, count_++), std::move(tensor));
}

ValueId Expansion::scalar(DType dtype, double value) {
  return constant("constant", is_float(dtype) ? from_doubles(dtype, {}, {value}) : from_ints(dtype, {}, {static_cast<int64_t>(value)}));
}

ValueId Expansion::ints(const std::vector<int64_t>& values) {
  return constant("constant", from_ints(DType::kI64, {static_cast<int64_t>(values.size())}, values));
}

ValueId Expansion::numbers(const Shape& shape) {
  require_possible(shape, DType::kI64);
  std::vector<int64_t> all(static_cast<size_t>(numel(shape)));
  std::iota(all.begin(), all.end(), 0);
  return constant("numbers", from_ints(DType::kI64, shape, all));
}

std::vector<ValueId> Expansion::add_several(size_t outputs, const std::string& op, const std::vector<ValueId>& inputs,
                                            const std::map<std::string, Attribute>& attributes) {
  Node written;
  written.name = fmt::format("{}/{}_{}", node.name, op, count_++);
  written.op = op;
  written.version = kVersion;
  written.attributes = attributes;
  written.inputs = inputs;
  written.outputs.assign(outputs, 0);  // wanted
  return place_(std::move(written));
}

ValueId Expansion::add(const std::string& op, const std::vector<ValueId>& inputs, const std::map<std::string, Attribute>& attributes) {
  return add_several(1, op, inputs, attributes)[0];
}

ValueId Expansion::cast(ValueId x, DType to) { return dtype(x) == to ? x : add("Cast", {x}, {{"to", int64_t{onnx_of_dtype(to)}}}); }

ValueId Expansion::reshape(ValueId x, const Shape& to) { return shape(x) == to ? x : add("Reshape", {x, ints(to)}); }

ValueId Expansion::transpose(ValueId x, const std::vector<int64_t>& perm) { return add("Transpose", {x}, {{"perm", perm}}); }

const QuantizedForm* Expansion::quantized_form(ValueId v) const {
  const auto at = forms_.of.find(v);
  return at == forms_.of.end() ? nullptr : &at->second;
}

ValueId Expansion::promise_floats(const QuantizedForm& form) {
  const auto [at, is_new] = forms_.promised.try_emplace({form.integers, form.scale, form.zero_point, form.axis}, kNoValue);
  if (!is_new) return at->second;
  at->second = graph_.add_value(fmt::format("{}/floats", node.name), DType::kF32, shape(form.integers));
  set_quantized_form(at->second, form);
  return at->second;
}

void Expansion::set_output(size_t i, ValueId v) {
  if (i < outputs_.size()) outputs_[i] = v;
}

OpDef made_of_others(std::string_view domain, std::string_view name, std::string_view inputs, void (*expand)(Expansion&), int outputs,
                     std::vector<VersionChange> changes) {
  OpDef row{domain, name, inputs, nullptr, nullptr, outputs, std::move(changes)};
  row.expand = expand;
  return row;
}

}  // namespace amdahl
