#pragma once
// What a card's layernorm and rmsnorm share (starter_kernels/kinds/normalization.h says what their operands are).

#include <string>
#include <string_view>
#include <vector>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

// `reads`: the values of READS that the body knows.
SearchSpace cuda_normalization_space(const Problem& problem, const DeviceInfo& card, std::vector<int64_t> reads, std::string meaning);
std::string cuda_normalization_source(const Variant& variant, std::string_view body);

}  // namespace amdahl
