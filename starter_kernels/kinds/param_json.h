#pragma once
// How the kinds read and write their parameters.

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// A parameter that has its default stays out of the problem: its text, and so what sessions and caches know it by, is that without the parameter.
inline void put_param(Json& params, const char* key, bool differs, Json value) {
  if (differs) params[key] = std::move(value);
  else params.erase(key);
}

// A choice by its name, as problems and the graph have it.
template <class Choice, size_t N>
using ChoiceNames = std::array<std::pair<std::string_view, Choice>, N>;

template <class Choice, size_t N>
Choice choice_named(const ChoiceNames<Choice, N>& names, const std::string& name) {
  for (const auto& [known, choice] : names)
    if (known == name) return choice;
  throw Error(ExitCode::kInternal, "unknown choice '" + name + "' in a problem");
}

template <class Choice, size_t N>
std::string name_of_choice(const ChoiceNames<Choice, N>& names, Choice choice) {
  for (const auto& [name, known] : names)
    if (known == choice) return std::string(name);
  throw Error(ExitCode::kInternal, "a choice without a name");
}

}  // namespace amdahl
