// GatherBlockQuantized of ONNX Runtime: rows of a table whose numbers are quantized in blocks. The rows are taken first, and what was taken becomes floats.

#include <fmt/format.h>

#include "graph/ops/composed.h"
#include "graph/ops/quantized.h"

namespace amdahl {
namespace {

// Bytes that hold several numbers each, along the last dimension, one number a byte.
Tensor apart(const Tensor& packed, int64_t bits) {
  if (bits == 8) return packed;
  Shape shape = packed.shape();
  if (shape.empty()) throw Refusal("packed numbers without a dimension");
  const int64_t rows = numel(shape) / std::max<int64_t>(1, shape.back());
  shape.back() *= 8 / bits;
  return from_ints(DType::kU8, shape, unpacked(packed, bits, rows, shape.back()));
}

ValueId gathered(Expansion& e, ValueId table, size_t axis) { return e.add("Gather", {table, e.in(1)}, {{"axis", static_cast<int64_t>(axis)}}); }

// data, indices, scales, zero_points
void expand_gather(Expansion& e) {
  const int64_t bits = e.node.attr_int("bits", 4), block = e.node.attr_int("block_size", 128);
  const bool bytes = e.dtype(e.in(0)) == DType::kU8;
  if (!bytes || (bits != 2 && bits != 4 && bits != 8))
    throw Refusal(fmt::format("a table of {} that holds {} bits is not supported", name_of(e.dtype(e.in(0))), bits));
  const ValueId table = e.constant("table", apart(e.constant_in(0, "the table"), bits));
  const size_t rank = e.shape(table).size();
  const size_t axis = e.axis_of(e.node.attr_int("gather_axis", 0), rank, "gather_axis"),
               along = e.axis_of(e.node.attr_int("quantize_axis", 1), rank, "quantize_axis");
  if (axis == along) throw Refusal("rows are taken along the dimension of the blocks");
  const ValueId q = gathered(e, table, axis), scales = gathered(e, e.in(2), axis);
  // Without zero points, unsigned numbers lie around the middle of their range.
  const ValueId zeros = e.has_input(3) ? gathered(e, e.constant("zero_points", apart(e.constant_in(3, "zero points"), bits)), axis)
                                       : e.scalar(DType::kU8, static_cast<double>(1 << (bits - 1)));
  const auto moved = static_cast<int64_t>(along) + (along > axis ? e.rank(e.in(1)) - 1 : 0);
  e.set_output(0, e.cast(dequantized(e, q, {scales, zeros}, moved, block), e.dtype(e.in(2))));
}

}  // namespace

std::vector<OpDef> gather_block_quantized_ops() { return {made_of_others("com.microsoft", "GatherBlockQuantized", "iifI", expand_gather)}; }

}  // namespace amdahl
