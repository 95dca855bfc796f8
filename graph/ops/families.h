#pragma once
// The op list is put together from families, one file each; a family lists its operators in a table.

#include "graph/op.h"

namespace amdahl {

std::vector<OpDef> pointwise_ops();      // pointwise.cc
std::vector<OpDef> movement_ops();       // movement.cc: Reshape … Concat, Gather, Pad, Tile
std::vector<OpDef> indexing_ops();       // indexing.cc: ScatterND, TopK, OneHot, CumSum, ArgMax, Trilu …
std::vector<OpDef> shape_ops();          // shape.cc: Shape, Size, Range, ConstantOfShape, Constant …
std::vector<OpDef> linear_ops();         // linear.cc: MatMul, Gemm
std::vector<OpDef> einsum_ops();         // einsum.cc
std::vector<OpDef> convolution_ops();    // convolution.cc: Conv, ConvTranspose
std::vector<OpDef> pooling_ops();        // pooling.cc
std::vector<OpDef> softmax_ops();        // softmax.cc: Softmax, LogSoftmax, Hardmax
std::vector<OpDef> normalization_ops();  // normalization.cc: Layer, RMS, Instance, Group
std::vector<OpDef> channel_norm_ops();   // channel_norm.cc: Batch, Lp, mean-variance, local response
std::vector<OpDef> reduction_ops();      // reduction.cc: ReduceX
std::vector<OpDef> attention_ops();      // attention.cc
std::vector<OpDef> rotary_ops();         // rotary_embedding.cc
std::vector<OpDef> loss_ops();           // loss.cc: SoftmaxCrossEntropyLoss, NegativeLogLikelihoodLoss
std::vector<OpDef> resize_ops();         // resize.cc

}  // namespace amdahl
