#pragma once
// The parts of composed_ops().

#include "graph/op.h"

namespace amdahl {

std::vector<OpDef> gather_block_quantized_ops();   // gather_block_quantized.cc
std::vector<OpDef> microsoft_attention_ops();      // microsoft_attention.cc
std::vector<OpDef> grouped_attention_ops();        // grouped_attention.cc
std::vector<OpDef> microsoft_products_ops();       // microsoft_products.cc
std::vector<OpDef> microsoft_normalization_ops();  // microsoft_normalization.cc
std::vector<OpDef> microsoft_pointwise_ops();      // microsoft_pointwise.cc
std::vector<OpDef> signal_ops();                   // signal.cc
std::vector<OpDef> grids_ops();                    // grids.cc
std::vector<OpDef> deform_conv_ops();              // deform_conv.cc
std::vector<OpDef> rare_ops();                     // rare.cc

}  // namespace amdahl
