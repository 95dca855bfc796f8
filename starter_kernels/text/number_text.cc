#include "starter_kernels/text/number_text.h"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace amdahl
