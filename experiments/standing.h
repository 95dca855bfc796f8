#pragma once
// What an interval lets one say of two plans, and whether a later measurement bears out what was said.

#include <string>
#include <string_view>

#include "experiments/experiment.h"

namespace amdahl {

enum class Standing { kFaster, kLevel, kSlower };
// By the 95% interval: one that holds 1 shows no difference, however far its middle lies from it.
Standing standing_of(const Gain& gain);
std::string_view name_of(Standing standing);  // "faster", "level", "slower"

std::string interval_text(const Gain& gain, int digits = 2);  // "1.43x [1.38, 1.49]"

// "" when `measured` bears out `claimed`: their intervals meet, and where a gain was claimed one is shown. Else why not.
std::string contradiction(const Gain& claimed, const Gain& measured);

}  // namespace amdahl
