#pragma once
// The form of a matrix product, or of a 1x1 convolution on channel blocks, whose problem declares "strassen" or "strassen2", or (a product) either in
// bfloat16: one or two levels of seven products of halves (cpu/kernels/matmul_strassen.cpp), with knobs of its own.

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// Why this matmul or conv cannot be halved so many times, or "": it takes fp32, one matrix of constant weights, and parts of some size.
std::string refused_in_halves(const Problem& problem, int levels, const DeviceInfo& device);

// Of a problem that declares either. The text wants the prelude that the kind writes.
SearchSpace strassen_space(const Problem& problem, const DeviceInfo& device);
std::string strassen_text(const Variant& variant);

}  // namespace amdahl
