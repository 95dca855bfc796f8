#pragma once
// The op list is put together from families, one file each; a family lists its operators in a table at the end of its file.

#include "graph/op.h"

namespace amdahl {

std::vector<OpDef> pointwise_ops();               // pointwise.cc
std::vector<OpDef> movement_ops();                // movement.cc
std::vector<OpDef> indexing_ops();                // indexing.cc
std::vector<OpDef> shape_ops();                   // shape.cc
std::vector<OpDef> linear_ops();                  // linear.cc
std::vector<OpDef> einsum_ops();                  // einsum.cc
std::vector<OpDef> convolution_ops();             // convolution.cc
std::vector<OpDef> pooling_ops();                 // pooling.cc
std::vector<OpDef> softmax_ops();                 // softmax.cc
std::vector<OpDef> normalization_ops();           // normalization.cc
std::vector<OpDef> channel_norm_ops();            // channel_norm.cc
std::vector<OpDef> reduction_ops();               // reduction.cc
std::vector<OpDef> attention_ops();               // attention.cc
std::vector<OpDef> rotary_ops();                  // rotary_embedding.cc
std::vector<OpDef> loss_ops();                    // loss.cc
std::vector<OpDef> resize_ops();                  // resize.cc
std::vector<OpDef> grid_sample_ops();             // grid_sample.cc
std::vector<OpDef> region_ops();                  // regions.cc
std::vector<OpDef> quantization_ops();            // quantization.cc
std::vector<OpDef> microsoft_quantization_ops();  // microsoft_quantization.cc
std::vector<OpDef> recurrence_ops();              // recurrence.cc
std::vector<OpDef> composed_ops();                // composed.cc

}  // namespace amdahl
