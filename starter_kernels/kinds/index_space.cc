#include "starter_kernels/kinds/index_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {

Access broadcast_access(const Access& access, const Shape& space) {
  Access out{access.dtype, space, Shape(space.size(), 0), access.offset, access.constant};
  // From the right. A limit of Clip may have more dimensions than the space, all of them one.
  for (size_t d = access.shape.size(), s = space.size(); d-- > 0 && s-- > 0;)
    if (access.shape[d] != 1) out.strides[s] = access.strides[d];
  return out;
}

Access dense_access(const Graph& graph, ValueId v) {
  return Access::dense(graph.value(v).dtype, graph.value(v).shape, graph.is_constant(v));
}

Access broadcast_access(const Graph& graph, ValueId v, const Shape& space) {
  return broadcast_access(dense_access(graph, v), space);
}

IndexSpace collapse(const Shape& shape, const std::vector<const Access*>& operands) {
  IndexSpace space;
  space.strides.resize(operands.size());
  for (const Access* a : operands) space.offsets.push_back(a->offset);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool merge = !space.dims.empty();
    for (size_t k = 0; merge && k < operands.size(); ++k)
      merge = space.strides[k].back() == operands[k]->strides[d] * shape[d];
    if (merge) space.dims.back() *= shape[d];
    else space.dims.push_back(shape[d]);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (merge) space.strides[k].back() = operands[k]->strides[d];
      else space.strides[k].push_back(operands[k]->strides[d]);
    }
  }
  return space;
}

double operand_bytes(const Access& access) {
  double n = static_cast<double>(size_of(access.dtype));
  for (size_t d = 0; d < access.shape.size(); ++d)
    if (access.strides[d] != 0) n *= static_cast<double>(access.shape[d]);
  return n;
}

double flops_of(const PointwiseProgram& program) {
  static const std::set<std::string> free{"const", "identity", "cast"};
  static const std::set<std::string> costly{"exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh",
                                            "acosh", "atanh", "tanh", "erf", "sigmoid", "elu", "celu", "selu", "softplus", "gelu",
                                            "gelu_tanh", "gelu_product", "gelu_tanh_product", "swish_product", "swish", "mish", "pow"};
  double flops = 0;
  for (const PointwiseOp& op : program.ops) flops += free.count(op.op) ? 0 : costly.count(op.op) ? 15 : 1;
  return flops;
}

std::string unflatten_text(const std::string& index, const Shape& dims, size_t first, const std::string& indent) {
  std::string text;
  int64_t stride = numel(dims);
  for (size_t d = 0; d < dims.size(); ++d) {
    stride /= std::max<int64_t>(dims[d], 1);
    std::string value = stride > 1 ? fmt::format("{} / {}", index, stride) : index;
    if (d > 0) value = fmt::format("({}) % {}", value, dims[d]);
    text += fmt::format("{}const int64_t i{} = {};\n", indent, first + d, value);
  }
  return text;
}

std::string offset_text(const Shape& strides, size_t first, int64_t offset) {
  std::string text = offset ? std::to_string(offset) : "";
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == 0) continue;
    if (!text.empty()) text += " + ";
    text += strides[d] == 1 ? fmt::format("i{}", first + d) : fmt::format("i{} * {}", first + d, strides[d]);
  }
  return text.empty() ? "0" : text;
}

Knob vector_bits_knob(const MachineInfo& machine) {
  if (machine.has("avx512f")) return {"VECTOR_BITS", {256, 512}, 512, "width of vectors, bits"};
  return {"VECTOR_BITS", {256}, 256, "width of vectors, bits"};
}

std::string vector_bits_text(const Knobs& knobs) {
  const auto it = knobs.find("VECTOR_BITS");
  if (it == knobs.end()) return "";
  // clang, which may build an export, has no such pragma.
  return fmt::format("#if !defined(__clang__) && defined(__AVX512F__)\n#pragma GCC target(\"prefer-vector-width={}\")\n#endif\n", it->second);
}

std::string streaming_text(const Knobs& knobs) {
  const auto it = knobs.find("STREAM");
  if (it == knobs.end() || it->second == 0) return "static inline void stream_fence() {}\n";
  return std::string(embedded_source("cpu/streaming.h"));
}

std::string join_text(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += part;
    if (!part.empty() && part.back() != '\n') text += '\n';
  }
  return text;
}

std::string opening_text(const Variant& variant) {
  return join_text({vector_bits_text(variant.knobs), std::string(embedded_source("cpu/scalar_math.h")),
                    fmt::format("constexpr int THREADS = {};", variant.problem.threads)});
}

std::string knob_text(const Knobs& knobs) {
  std::string text;
  for (const auto& [name, value] : knobs) text += fmt::format("constexpr int64_t {} = {};\n", name, value);
  return text;
}

}  // namespace amdahl
