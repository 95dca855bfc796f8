#pragma once
// A long loop over elements, cut in neighbouring parts of which each has a thread of its own.

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/machine.h"

namespace amdahl {

// Calls part(first, last) for parts of [0, n) that begin at multiples of `grain`: one for every CPU that this process may use, but none that has
// fewer than `least` elements for want of more (a thread costs some 30 us: as long as drawing 30 thousand floats). Parts may run at once and must not
// throw. Results that are put together in the order of the parts are the same on every run on one machine.
template <typename Part>
void in_parallel(int64_t n, int64_t grain, int64_t least, const Part& part) {
  const int64_t parts = std::clamp<int64_t>(n / std::max<int64_t>(least, 1), 1, this_machine().units);
  const auto begin = [&](int64_t p) { return p == parts ? n : p * n / parts / grain * grain; };
  std::vector<std::jthread> others;
  for (int64_t p = 1; p < parts; ++p) others.emplace_back([&part, first = begin(p), last = begin(p + 1)] { part(first, last); });
  part(begin(0), begin(1));
}

}  // namespace amdahl
