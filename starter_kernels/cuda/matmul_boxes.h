#pragma once
// Products of half floats by a constant on cards of compute capability 9.0, of which both operands come to shared memory by copies of boxes and blocks, not by
// loads of threads: when, and how they can be varied.

#include <cstdint>
#include <string>

#include "base/device_info.h"
#include "starter_kernels/cuda/wgmma.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// As has_wgmma_form() (matmul_wgmma.h), of one matrix, whose rows of A begin at multiples of 16 bytes and whose rows of C are adjacent in memory.
bool has_boxes_form(const Problem& problem, const DeviceInfo& card);

WgmmaStarter starter_boxes(const Problem& problem, const DeviceInfo& card);

// Why the form cannot be launched with these knobs, or "".
std::string refused_boxes(const Problem& problem, const Knobs& knobs);

// The whole text of a product whose operands `operands` says: element_of_b() and copy_tile_of_a() as the texts boxes_of_*.h have them.
std::string boxes_text(const Problem& product, const Knobs& knobs, const DeviceInfo& card, const std::string& operands);
// Those of a matrix product.
std::string boxes_of_matrix_text(const Problem& problem);

}  // namespace amdahl
