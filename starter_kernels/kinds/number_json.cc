#include "starter_kernels/kinds/number_json.h"

#include <cmath>
#include <limits>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

Json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string word = json.get<std::string>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  return word == "-inf" ? -HUGE_VAL : HUGE_VAL;
}

}  // namespace amdahl
