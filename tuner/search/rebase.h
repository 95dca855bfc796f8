#pragma once
// A win moved to another plan than the one it was found on.

#include <optional>

#include "plan/plan.h"

namespace amdahl {

// The window's steps in another plan, by what they read, compute and write; nullopt when one of them is gone.
std::optional<Window> relocate(const Plan& from, const Window& window, const Plan& to);

// `onto` with the steps replaced whose replacement turned `before` into `after`; nullopt when one of them is gone, or what comes of it is
// no plan.
std::optional<Plan> rebased(const Graph& graph, const Plan& before, const Plan& after, const Plan& onto);

}  // namespace amdahl
