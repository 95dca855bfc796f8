#include "starter_kernels/kinds/accesses.h"

#include <set>
#include <string>

#include "graph/graph.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

Access dense_access(const Graph& graph, ValueId v) { return Access::dense(graph.value(v).dtype, graph.value(v).shape, graph.is_constant(v)); }

Access broadcast_access(const Graph& graph, ValueId v, const Shape& space) { return broadcast_access(dense_access(graph, v), space); }

Access broadcast_access(const Access& access, const Shape& space) {
  Access out{access.dtype, space, Shape(space.size(), 0), access.offset, access.constant};
  // From the right. A limit of Clip may have more dimensions than the space, all of them one.
  for (size_t d = access.shape.size(), s = space.size(); d-- > 0 && s-- > 0;)
    if (access.shape[d] != 1) out.strides[s] = access.strides[d];
  return out;
}

double operand_bytes(const Access& access) {
  double n = static_cast<double>(size_of(access.dtype));
  for (size_t d = 0; d < access.shape.size(); ++d)
    if (access.strides[d] != 0 || access.shape[d] == 0) n *= static_cast<double>(access.shape[d]);
  return n;
}

double flops_of(const PointwiseProgram& program) {
  static const std::set<std::string> free{"const", "identity", "cast"};
  static const std::set<std::string> costly{"exp",           "log",   "sin",   "cos",      "tan",   "asin",      "acos",         "atan",
                                            "sinh",          "cosh",  "asinh", "acosh",    "atanh", "tanh",      "erf",          "sigmoid",
                                            "elu",           "celu",  "selu",  "softplus", "gelu",  "gelu_tanh", "gelu_product", "gelu_tanh_product",
                                            "swish_product", "swish", "mish",  "pow"};
  double flops = 0;
  for (const PointwiseOp& op : program.ops) flops += free.count(op.op) ? 0 : costly.count(op.op) ? 15 : 1;
  return flops;
}

DType accumulator_of(DType dtype) {
  if (is_half(dtype)) return DType::kF32;
  return is_byte(dtype) ? DType::kI32 : dtype;
}

}  // namespace amdahl
