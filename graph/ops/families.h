#pragma once
// The op list is put together from families, one file each; a family lists its operators in a table.

#include "graph/op.h"

namespace amdahl {

std::vector<OpDef> pointwise_ops();      // pointwise.cc
std::vector<OpDef> movement_ops();       // movement.cc: Reshape … Concat, Gather, Pad, Tile
std::vector<OpDef> indexing_ops();       // indexing.cc: ScatterND, TopK, OneHot, CumSum, ArgMax, Trilu …
std::vector<OpDef> shape_ops();          // shape.cc: Shape, Size, Range, ConstantOfShape, Constant …
std::vector<OpDef> linear_ops();         // linear.cc: MatMul, Gemm, Einsum
std::vector<OpDef> convolution_ops();    // convolution.cc: Conv, ConvTranspose, pooling
std::vector<OpDef> normalization_ops();  // normalization.cc: Softmax family, Layer/RMS/Batch/Group/InstanceNormalization
std::vector<OpDef> reduction_ops();      // reduction.cc: ReduceX
std::vector<OpDef> attention_ops();      // attention.cc: Attention, RotaryEmbedding, SoftmaxCrossEntropyLoss
std::vector<OpDef> resize_ops();         // resize.cc

}  // namespace amdahl
