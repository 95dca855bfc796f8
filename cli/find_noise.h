#pragma once
// This machine's noise for the commands that need it: from the cache, else measured, with progress.

#include <optional>

#include "cli/commands.h"
#include "tuner/trials/machine_noise.h"

namespace amdahl {

enum class NoiseForm { kCached, kCachedOrShort, kLong };

// Nothing for kCached where nothing is known, and for devices whose code has no layouts (Toolchain::has_layouts): they keep the careful rule. Throws Error when it cannot be measured, kInterrupted on Ctrl-C.
std::optional<MachineNoise> find_machine_noise(const GlobalOptions& global, NoiseForm form);

}  // namespace amdahl
