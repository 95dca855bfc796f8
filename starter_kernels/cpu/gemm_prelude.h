#pragma once
// What the generators of the dense kinds (matmul, attention, fused_mlp) share: pieces of prelude text.

#include <string>
#include <vector>

#include "graph/graph.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

std::string storage_type(DType dtype);  // C type in memory; bf16 is uint16_t

// Includes, `typedef … ACC`, and to_acc(T) / from_acc for the storage types of the operands (the last one is the output's).
std::string gemm_types(DType acc, const std::vector<DType>& operands);

// `static inline int64_t NAME(int64_t batch)`: offset of matrix number `batch` of the first `dims` dimensions.
std::string batch_offset(const std::string& name, const Access& access, size_t dims);
// ", batch / 12 % 3, batch / 4 % 3 …": the indices that a row-major `batch` number stands for.
std::string batch_indices(const Shape& shape, size_t dims);

// `#define SCHEDULE …`: tasks are handed out as threads become free where the knob TASKS makes more of them than threads.
std::string gemm_schedule(const Variant& variant);

// Candidates of a knob below `limit`, and the first one that covers it: larger ones build the same kernel.
std::vector<int64_t> up_to(std::vector<int64_t> values, int64_t limit);

}  // namespace amdahl
