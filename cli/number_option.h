#pragma once
// Options that are numbers. What no command can mean (nan, -1 threads, 1e300 minutes) is refused as the command line is read, by a message that says
// what can be given.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>

#include "cli/commands.h"

namespace amdahl {

// Boost adds the option's name.
class NoSuchNumber : public po::error_with_option_name {
 public:
  NoSuchNumber(const std::string& text, const std::string& wanted) : error_with_option_name("%canonical_option% %value%: give " + wanted) {
    set_substitute("value", text);
  }
};

template <typename Number>
class NumberOption : public po::typed_value<Number> {
 public:
  // `wanted`: what `fits` lets pass, for the message: "a whole number from 1 to 9".
  NumberOption(std::string wanted, std::function<bool(Number)> fits, Number* into)
      : po::typed_value<Number>(into), wanted_(std::move(wanted)), fits_(std::move(fits)) {}

  void xparse(boost::any& value, const std::vector<std::string>& words) const override {
    po::validators::check_first_occurrence(value);
    const std::string& text = po::validators::get_single_string(words);
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !fits_(number)) throw NoSuchNumber(text, wanted_);
    value = number;
  }

 private:
  std::string wanted_;
  std::function<bool(Number)> fits_;
};

// `into`: filled as by po::value(into).
template <typename Number>
NumberOption<Number>* whole_number(Number least, Number most, Number* into = nullptr) {
  static_assert(std::is_integral_v<Number>);
  return new NumberOption<Number>(
      fmt::format("a whole number from {} to {}", least, most), [=](Number n) { return n >= least && n <= most; }, into);
}
inline NumberOption<double>* number_from(double least, double most, double* into = nullptr) {
  return new NumberOption<double>(
      fmt::format("a number from {} to {:.15g}", least, most), [=](double n) { return n >= least && n <= most; }, into);
}
inline NumberOption<double>* number_above(double limit, double most, double* into = nullptr) {
  return new NumberOption<double>(
      fmt::format("a number above {}, up to {:.15g}", limit, most), [=](double n) { return n > limit && n <= most; }, into);
}

}  // namespace amdahl
