#include "plan/algorithm.h"

#include <fmt/format.h>

namespace amdahl {

std::string algorithm_of(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) {
    const Variant& v = step.variant;
    text += fmt::format("{} {}", v.problem.kind, declared_algorithm(v.problem));
    for (const char* choice : kAlgorithmKnobs)
      if (const auto knob = v.knobs.find(choice); knob != v.knobs.end()) text += fmt::format(" {}={}", choice, knob->second);
    text += ";";
  }
  return text;
}

}  // namespace amdahl
