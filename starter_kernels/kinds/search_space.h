#pragma once
// How an implementation of a kind can be varied: named knobs with values to try, and what is known of their combinations.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct Knob {
  std::string name;             // field's word, upper case as in the source: "MR", "KC", "PACK_B"
  std::vector<int64_t> values;  // ascending, what a search may try at this problem
  int64_t starter = 0;          // value of the starter kernel: a good engineer's first version, never worse on purpose
  std::string meaning;          // one line
};

struct SearchSpace {
  std::vector<Knob> knobs;
  // Empty when the combination can be built and fits the device, else the reason.
  std::function<std::string(const Knobs&)> refuse;
  // What counting instructions says of a combination: cycles, comparable within the space only. It orders what is tried, and rules
  // nothing out. Empty: nothing is known.
  std::function<double(const Knobs&)> cycles;

  Knobs starters() const;
  const Knob* find(std::string_view name) const;
};

}  // namespace amdahl
