#include "starter_kernels/text/fold_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/reduce.h"
#include "starter_kernels/text/row_space.h"

namespace amdahl {

const Fold& fold_of(const ReduceParams& params) {
  static const std::map<std::string, Fold> rows{
      {"sum", {"0", "a + x", "a + b", "a"}},
      {"mean", {"0", "a + x", "a + b", "a / COUNT"}},
      {"max", {"LOWEST", "scalar::max(a, (acc_t)x)", "scalar::max(a, b)", "a"}},
      {"min", {"HIGHEST", "scalar::min(a, (acc_t)x)", "scalar::min(a, b)", "a"}},
      {"prod", {"1", "a * x", "a * b", "a"}},
      {"l1", {"0", "a + (x < 0 ? -(acc_t)x : (acc_t)x)", "a + b", "a"}},
      {"l2", {"0", "a + (acc_t)x * x", "a + b", "scalar::sqrt(a)"}},
      {"sumsquare", {"0", "a + (acc_t)x * x", "a + b", "a"}},
      {"logsum", {"0", "a + x", "a + b", "scalar::log(a)"}},
      // Around the maximum, which is found first.
      {"logsumexp", {"0", "a + scalar::exp(x - offset)", "a + b", "scalar::log(a) + offset"}},
  };
  return rows.at(params.op);
}

DType fold_type(const Problem& problem) {
  const DType type = row_type(problem);
  return is_float(type) || type == DType::kU64 ? type : DType::kI64;
}

int64_t fold_count(const Problem& problem, int64_t elements) { return is_float(row_type(problem)) ? elements : std::max<int64_t>(1, elements); }

std::string fold_functions_text(const Fold& fold) {
  return fmt::format(
      "SCALAR acc_t step(acc_t a, real x, acc_t offset) {{ return {}; }}\nSCALAR acc_t merge(acc_t a, acc_t b) {{ return {}; }}\n"
      "SCALAR real result(acc_t a, acc_t offset) {{ return (real)({}); }}\n",
      fold.step, fold.merge, fold.result);
}

}  // namespace amdahl
