#include "starter_kernels/kinds/number_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace amdahl {
namespace {

// `suffix`: "f" for float.
std::string constant_text(double value, const char* suffix) {
  if (std::isnan(value)) return fmt::format("(__builtin_nan{}(\"\"))", suffix);
  if (std::isinf(value)) return fmt::format("({}__builtin_inf{}())", value < 0 ? "-" : "", suffix);
  return fmt::format("({:a}{})", value, suffix);
}

}  // namespace

std::string float_text(double value) { return constant_text(static_cast<double>(static_cast<float>(value)), "f"); }
std::string double_text(double value) { return constant_text(value, ""); }

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
