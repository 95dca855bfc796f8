#pragma once
// Operands of the graph as kernels see them, and what touching them costs.

#include "graph/graph.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

Access dense_access(const Graph& graph, ValueId v);
// How value `v` is read at every point of `space`, numpy broadcasting: stride 0 where it is repeated.
Access broadcast_access(const Graph& graph, ValueId v, const Shape& space);
// `access` of shape S as seen from a space that S broadcasts to.
Access broadcast_access(const Access& access, const Shape& space);

// Bytes of the elements that are read or written at least once: broadcast dimensions count once.
double operand_bytes(const Access& access);

// Arithmetic of one evaluation: 1 for an addition, about 15 for an exponential.
double flops_of(const PointwiseProgram& program);

// Type that products of `dtype` are summed in: fp32 for f16 and bf16, int32 for bytes, else the type itself.
DType accumulator_of(DType dtype);

}  // namespace amdahl
