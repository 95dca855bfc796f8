#include "base/time_text.h"

#include <fmt/format.h>

namespace amdahl {

std::string three_digits(double x) {
  if (x >= 99.95) return fmt::format("{:.0f}", x);
  if (x >= 9.995) return fmt::format("{:.1f}", x);
  return fmt::format("{:.2f}", x);
}

std::string time_text(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds >= 0.9995) return three_digits(seconds) + " s";
  if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3) + " ms";
  if (seconds >= 0.9995e-6) return three_digits(seconds * 1e6) + " µs";
  return three_digits(seconds * 1e9) + " ns";
}

}  // namespace amdahl
