#pragma once
// Words beside a command's output: progress, notes, errors. They go to stderr; that it cannot be written (a full disk, a terminal that was closed) is no reason
// to end hours of work, and fmt::print(stderr, …) would throw.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace amdahl {

template <typename... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), stderr);
}

}  // namespace amdahl
