#include "bench/kernels/product.h"

#include <fmt/format.h>

#include "base/error.h"

namespace amdahl {

Product product_of(const Operands& operands) {
  if (!operands.kernel.starts_with("gemm-")) throw Error(ExitCode::kUsage, fmt::format("{} is not a matrix product", operands.kernel));
  const Operand& a = operands.inputs.at(0);
  const Tensor& b = operands.constant("c0");
  return {a.shape.at(0), b.shape().at(1), a.shape.at(1), a.data.get(), b.as<float>().data(), operands.output.data.get()};
}

}  // namespace amdahl
