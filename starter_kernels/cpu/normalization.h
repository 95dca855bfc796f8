#pragma once
// What the CPU's layernorm and rmsnorm share (starter_kernels/kinds/normalization.h says what their operands are).

#include <string>
#include <string_view>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

SearchSpace normalization_space(const Problem& problem, const DeviceInfo& device, bool welford);
std::string normalization_source(const Variant& variant, std::string_view body);

}  // namespace amdahl
