#include "starter_kernels/kinds/search_space.h"

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

Knobs SearchSpace::starters() const {
  Knobs knobs_of;
  for (const Knob& knob : knobs) knobs_of[knob.name] = knob.starter;
  return knobs_of;
}

const Knob* SearchSpace::find(std::string_view name) const {
  for (const Knob& knob : knobs)
    if (knob.name == name) return &knob;
  return nullptr;
}

}  // namespace amdahl
