#pragma once
// The one document that --json prints.

#include <nlohmann/json.hpp>

namespace amdahl {

// Paths and what compilers say may hold bytes that are no UTF-8: they become U+FFFD. Numbers that JSON lacks become null.
void print_json(const nlohmann::json& document);

}  // namespace amdahl
