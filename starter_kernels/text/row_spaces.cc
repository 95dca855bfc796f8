#include "starter_kernels/text/row_spaces.h"

#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/normalization.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/reduce.h"
#include "starter_kernels/kinds/softmax.h"

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
  reduced.at(static_cast<size_t>(SoftmaxParams::of(problem).axis)) = true;
  return RowSpace(problem.out[0].shape, reduced, operands_of(problem));
}

RowSpace reduce_rows(const Problem& problem) {
  const Shape& shape = problem.in[0].shape;
  std::vector<bool> reduced(shape.size(), false);
  for (int64_t axis : ReduceParams::of(problem).axes) reduced.at(static_cast<size_t>(axis)) = true;
  std::vector<Access> operands = operands_of(problem);
  for (size_t k = prologue_inputs(problem); k < operands.size(); ++k) operands[k] = broadcast_access(operands[k], shape);
  return RowSpace(shape, reduced, operands);
}

RowSpace normalization_rows(const Problem& problem, bool has_column_mode) {
  const Shape& shape = problem.out[0].shape;
  std::vector<bool> reduced(shape.size(), false);
  const NormalizationParams params = NormalizationParams::of(problem);
  if (params.axes) {
    for (int64_t d : *params.axes) reduced.at(static_cast<size_t>(d)) = true;
  } else {
    for (auto d = static_cast<size_t>(params.axis); d < shape.size(); ++d) reduced[d] = true;
  }
  return RowSpace(shape, reduced, operands_of(problem), has_column_mode);
}

}  // namespace amdahl
