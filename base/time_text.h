#pragma once
// Seconds as people read them: "1.24 s", "12.3 ms", "870 µs", "52.0 ns". Three digits in the unit that fits, so that a small time is never shown as nothing.

#include <string>

namespace amdahl {

std::string time_text(double seconds);
// Three digits, whatever the size: "1.24", "12.4", "124".
std::string three_digits(double x);

}  // namespace amdahl
