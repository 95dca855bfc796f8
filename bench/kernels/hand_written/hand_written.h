#pragma once
// The memory-bound kernels of make_models.py as a good engineer writes them in an hour: OpenMP over rows, vectors, one walk over memory.
//
// Each gives the ways worth trying on a machine (with ordinary and with streaming stores); operands are those of make_models.py, in its
// order. Throws Error where a row is not of whole vectors.

#include "bench/kernels/peer_arm.h"

namespace amdahl::hand_written {

std::vector<Run> causal_attention(const Operands& operands, int threads);
std::vector<Run> tanh_gelu(const Operands& operands, int threads);
std::vector<Run> layer_norm(const Operands& operands, int threads);
std::vector<Run> rms_norm(const Operands& operands, int threads);
std::vector<Run> rope(const Operands& operands, int threads);
std::vector<Run> softmax(const Operands& operands, int threads);
std::vector<Run> cross_entropy(const Operands& operands, int threads);
std::vector<Run> lstm(const Operands& operands, int threads);
std::vector<Run> reduce_all(const Operands& operands, int threads);

}  // namespace amdahl::hand_written
