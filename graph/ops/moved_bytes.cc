#include "graph/ops/moved_bytes.h"

#include <cstring>

#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

// (q - z) s / s is within an ulp of q - z, which its rounding takes away, as long as the product is a normal number.
bool is_ordinary(const Expansion& e, ValueId scale) {
  const Tensor* known = e.constant_of(scale);
  if (!known || known->numel() != 1) return false;
  const double s = to_doubles(*known)[0];
  return s > 0x1.0p-100 && s < 0x1.0p100;
}

bool same_constant(const Expansion& e, ValueId a, ValueId b) {
  const auto is_nothing = [&](ValueId v) { return v == kNoValue || (e.dtype(v) == DType::kU8 && is_zero(e, v)); };
  if (a == b || (is_nothing(a) && is_nothing(b))) return true;
  if (a == kNoValue || b == kNoValue) return false;
  const Tensor *x = e.constant_of(a), *y = e.constant_of(b);
  return x && y && x->dtype() == y->dtype() && x->numel() == 1 && y->numel() == 1 && std::memcmp(x->data(), y->data(), x->bytes()) == 0;
}

}  // namespace

void expand_moved_bytes(Expansion& e) {
  const QuantizedForm* form = e.quantized_form(e.in(0));
  const bool one_output = e.node.outputs.size() < 2 || !e.wants_output(1);
  if (!form || !one_output || !is_ordinary(e, form->scale) || e.node.attr_int("ceil_mode", 0) != 0 || e.constant_of(form->integers)) return;
  if (e.node.version < 13 && e.node.op != "Transpose" && e.node.op != "MaxPool" && e.node.op != "Flatten") return;  // written as the newest standard has them
  if (form->zero_point != kNoValue && numel(e.shape(form->zero_point)) != 1) return;
  const QuantizedForm q = *form;
  std::vector<ValueId> inputs = e.node.inputs;
  inputs[0] = q.integers;
  const ValueId moved = e.add(e.node.op, inputs, e.node.attributes);
  e.set_output(0, dequantized(e, moved, {q.scale, q.zero_point}));
}

ValueId bytes_quantized_again(const Expansion& e, ValueId x, ValueId scale, ValueId zero_point) {
  const QuantizedForm* form = e.quantized_form(x);
  if (!form || e.dtype(form->integers) != type_of_zero(e, zero_point) || !is_ordinary(e, form->scale)) return kNoValue;
  return same_constant(e, form->scale, scale) && same_constant(e, form->zero_point, zero_point) ? form->integers : kNoValue;
}

}  // namespace amdahl
