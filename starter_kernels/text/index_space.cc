#include "starter_kernels/text/index_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

IndexSpace collapse(const Shape& shape, const std::vector<const Access*>& operands) {
  IndexSpace space;
  space.strides.resize(operands.size());
  for (const Access* a : operands) space.offsets.push_back(a->offset);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool merge = !space.dims.empty();
    for (size_t k = 0; merge && k < operands.size(); ++k) merge = space.strides[k].back() == operands[k]->strides[d] * shape[d];
    if (merge) space.dims.back() *= shape[d];
    else space.dims.push_back(shape[d]);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (merge) space.strides[k].back() = operands[k]->strides[d];
      else space.strides[k].push_back(operands[k]->strides[d]);
    }
  }
  return space;
}

IndexSpace collapse(const Problem& problem) {
  std::vector<const Access*> operands;
  for (const auto* side : {&problem.in, &problem.out})
    for (const Access& a : *side) operands.push_back(&a);
  return collapse(problem.out[0].shape, operands);
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

std::string join_text(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += part;
    if (!part.empty() && part.back() != '\n') text += '\n';
  }
  return text;
}

}  // namespace amdahl
