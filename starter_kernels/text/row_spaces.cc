#include "starter_kernels/text/row_spaces.h"

#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

std::vector<Access> operands_of(const Problem& problem) {
  std::vector<Access> operands = problem.in;
  operands.insert(operands.end(), problem.out.begin(), problem.out.end());
  return operands;
}

}  // namespace

RowSpace softmax_rows(const Problem& problem) {
  std::vector<bool> reduced(problem.out[0].shape.size(), false);
  reduced.at(problem.params.at("axis").get<size_t>()) = true;
  return RowSpace(problem.out[0].shape, reduced, operands_of(problem));
}

RowSpace reduce_rows(const Problem& problem) {
  const Shape& shape = problem.in[0].shape;
  std::vector<bool> reduced(shape.size(), false);
  for (size_t axis : problem.params.at("axes").get<std::vector<size_t>>()) reduced.at(axis) = true;
  std::vector<Access> operands = operands_of(problem);
  for (size_t k = prologue_inputs(problem); k < operands.size(); ++k) operands[k] = broadcast_access(operands[k], shape);
  return RowSpace(shape, reduced, operands);
}

RowSpace normalization_rows(const Problem& problem, bool has_column_mode) {
  const Shape& shape = problem.out[0].shape;
  std::vector<bool> reduced(shape.size(), false);
  if (problem.params.contains("axes")) {
    for (size_t d : problem.params.at("axes").get<std::vector<size_t>>()) reduced.at(d) = true;
  } else {
    for (size_t d = problem.params.at("axis").get<size_t>(); d < shape.size(); ++d) reduced[d] = true;
  }
  return RowSpace(shape, reduced, operands_of(problem), has_column_mode);
}

}  // namespace amdahl
