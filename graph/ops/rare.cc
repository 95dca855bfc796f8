// Operators of the standard that few models have: Det, CumProd, Swish, TensorScatter, BitCast.

#include <fmt/format.h>

#include "graph/expansion.h"
#include "graph/onnx_types.h"
#include "graph/ops/composed.h"

namespace amdahl {
namespace {

// A half's alpha would be rounded: that is computed in fp32.
void expand_swish(Expansion& e) {
  const double alpha = e.node.attr_float("alpha", 1);
  const DType type = e.dtype(e.in(0));
  const bool wide = alpha != 1 && is_half(type);
  const ValueId x = wide ? e.cast(e.in(0), DType::kF32) : e.in(0), inside = alpha == 1 ? x : e.add("Mul", {x, e.scalar(e.dtype(x), alpha)});
  e.set_output(0, e.cast(e.add("Mul", {x, e.add("Sigmoid", {inside})}), type));
}

// By the formula; of larger ones it would cancel, and grow with the factorial.
void expand_det(Expansion& e) {
  Shape shape = e.shape(e.in(0));
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2]) throw Refusal(fmt::format("{} is not of square matrices", to_string(shape)));
  const int64_t n = shape.back();
  if (n < 1 || n > 3) throw Refusal(fmt::format("the determinant of {0} x {0} is not supported, at most 3 x 3", n));
  shape.resize(shape.size() - 2);
  Shape flat = shape;
  flat.push_back(n * n);
  const ValueId all = e.reshape(e.in(0), flat);
  if (n == 1) return e.set_output(0, e.add("Reshape", {all, e.ints(shape)}));
  const std::vector<ValueId> m =
      e.add_several(static_cast<size_t>(n * n), "Split", {all, e.ints(std::vector<int64_t>(static_cast<size_t>(n * n), 1))}, {{"axis", int64_t{-1}}});
  const auto times = [&](ValueId a, ValueId b) { return e.add("Mul", {a, b}); };
  const auto minor = [&](size_t a, size_t b, size_t c, size_t d) { return e.add("Sub", {times(m[a], m[d]), times(m[b], m[c])}); };
  ValueId det = kNoValue;
  if (n == 2) det = minor(0, 1, 2, 3);
  else det = e.add("Add", {e.add("Sub", {times(m[0], minor(4, 5, 7, 8)), times(m[1], minor(3, 5, 6, 8))}), times(m[2], minor(3, 4, 6, 7))});
  e.set_output(0, e.reshape(det, shape));
}

// x, moved by `by` along `axis` towards its end (its beginning: reverse), with ones where nothing comes from.
ValueId moved(Expansion& e, ValueId x, size_t axis, int64_t by, bool reverse) {
  const Shape shape = e.shape(x);
  Shape room = shape;
  room[axis] = std::min(by, shape[axis]);
  const int64_t from = reverse ? room[axis] : 0, to = reverse ? shape[axis] : shape[axis] - room[axis];
  const ValueId kept = e.add("Slice", {x, e.ints({from}), e.ints({to}), e.ints({static_cast<int64_t>(axis)})});
  const ValueId ones = e.add("Expand", {e.scalar(e.dtype(x), 1), e.ints(room)});
  return e.add("Concat", reverse ? std::vector<ValueId>{kept, ones} : std::vector<ValueId>{ones, kept}, {{"axis", static_cast<int64_t>(axis)}});
}

// In steps that double what each element has taken in.
void expand_cum_prod(Expansion& e) {
  const std::vector<int64_t> stated = to_ints(e.constant_in(1, "the axis"));
  ValueId x = e.in(0);
  const Shape shape = e.shape(x);
  if (stated.size() != 1 || shape.empty()) throw Refusal("needs one axis");
  const size_t axis = e.axis_of(stated[0], shape.size(), "axis");
  const bool reverse = e.node.attr_int("reverse", 0) != 0;
  if (e.node.attr_int("exclusive", 0) != 0) x = moved(e, x, axis, 1, reverse);
  for (int64_t by = 1; by < shape[axis]; by *= 2) x = e.add("Mul", {x, moved(e, x, axis, by, reverse)});
  e.set_output(0, e.add("Identity", {x}));
}

// A cache, what is written into it, and at which position of each sequence. Indices are clipped: nothing beside the cache is written.
void expand_tensor_scatter(Expansion& e) {
  const Shape cache = e.shape(e.in(0)), update = e.shape(e.in(1));
  const size_t axis = e.axis_of(e.node.attr_int("axis", -2), cache.size(), "axis");
  if (axis == 0 || update.size() != cache.size() || update[axis] < 1 || update[axis] > cache[axis])
    throw Refusal(fmt::format("{} is written along dimension {} of {}", to_string(update), axis, to_string(cache)));
  const ValueId zero = e.scalar(DType::kI64, 0);
  Shape along(cache.size(), 1), of_batch(cache.size(), 1);
  along[axis] = cache[axis], of_batch[0] = cache[0];
  ValueId offset = e.numbers(along);
  if (e.has_input(2)) offset = e.add("Sub", {offset, e.reshape(e.cast(e.in(2), DType::kI64), of_batch)});
  if (e.node.attr_string("mode", "linear") == "circular") offset = e.add("Mod", {offset, e.scalar(DType::kI64, static_cast<double>(cache[axis]))});
  const ValueId within = e.add("Clip", {offset, zero, e.scalar(DType::kI64, static_cast<double>(update[axis] - 1))});
  const ValueId spread = e.add("GatherElements", {e.in(1), e.add("Expand", {within, e.ints(cache)})}, {{"axis", static_cast<int64_t>(axis)}});
  e.set_output(0, e.add("Where", {e.add("Equal", {offset, within}), spread, e.in(0)}));
}

// Integers of one size hold each other's bits; a float's are known where it is a constant.
void expand_bit_cast(Expansion& e) {
  const int64_t number = e.node.attr_int("to", 0);
  const auto to = dtype_of_onnx(number);
  const DType from = e.dtype(e.in(0));
  if (!to || size_of(*to) != size_of(from)) throw Refusal(fmt::format("{} has not as many bits as {}", onnx_type_name(number), name_of(from)));
  const bool whole = !is_float(*to) && !is_float(from) && *to != DType::kBool && from != DType::kBool;
  if (*to == from || whole) return e.set_output(0, *to == from ? e.add("Identity", {e.in(0)}) : e.cast(e.in(0), *to));
  const Tensor bits = e.constant_in(0, "what is taken for another type");
  std::byte* copy = nullptr;
  Tensor same = Tensor::allocate(*to, bits.shape(), &copy);
  std::copy_n(bits.data(), bits.bytes(), copy);
  e.set_output(0, e.add("Identity", {e.constant("bits", std::move(same))}));
}

}  // namespace

std::vector<OpDef> rare_ops() {
  return {
      made_of_others("", "Swish", "f", expand_swish),       made_of_others("", "Det", "f", expand_det),
      made_of_others("", "CumProd", "ni", expand_cum_prod), made_of_others("", "TensorScatter", "aaI", expand_tensor_scatter),
      made_of_others("", "BitCast", "a", expand_bit_cast),
  };
}

}  // namespace amdahl
