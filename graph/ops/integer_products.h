#pragma once
// Sums of products of bytes, exact in int32. A Graph has them in one form, which machines have instructions for: MatMulInteger and ConvInteger of u8 by i8,
// without zero points. All others are written in it:
//
//   sum (a - az) (b - bz) = sum a b - az sum b - bz sum a + K az bz
//
// where sum b is a constant of constant weights, and a signed a is an unsigned one with a zero point 128 higher. DequantizeLinear before MatMul, Gemm or Conv
// becomes such a product times both scales: what is left out is that each weight times its scale is rounded to fp32.

#include "graph/expansion.h"

namespace amdahl {

// (a - a_zero) (b - b_zero) in int32; a zero point of a's rows, of b's columns, or one.
ValueId integer_product(Expansion& e, ValueId a, ValueId b, ValueId a_zero, ValueId b_zero);
// The same of a convolution, with the window of e.node; kNoValue where it is not written so: weights that depend on the data, few channels a group.
ValueId integer_convolution(Expansion& e, ValueId x, ValueId w, ValueId x_zero, ValueId w_zero);

// Of floats that are known as integers, in fp32, with e.node's window: kNoValue where scales lie along other axes than those that remain, or weights depend on the data.
ValueId product_of_quantized(Expansion& e, const QuantizedForm& a, const QuantizedForm& b, ValueId bias);
ValueId convolution_of_quantized(Expansion& e, const QuantizedForm& x, const QuantizedForm& w, ValueId bias);

// Rows of the op list: forms of MatMulInteger and ConvInteger that are not the one above; MatMul, Gemm and Conv of dequantized operands.
void expand_matmul_integer(Expansion& e);
void expand_conv_integer(Expansion& e);
void expand_quantized_matmul(Expansion& e);
void expand_quantized_gemm(Expansion& e);
void expand_quantized_conv(Expansion& e);

}  // namespace amdahl
