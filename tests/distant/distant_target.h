#pragma once
// The distant device's kernels: scalar C++ that is compiled as it stands, without optimisation. Three kinds, each with one choice to tune.

#include <memory>

#include "starter_kernels/toolchain/toolchain.h"

namespace amdahl::testing {

const Target& distant_target();

// Keeps what it builds in `folder`, which it makes.
std::shared_ptr<const Toolchain> distant_toolchain(const std::string& folder);

}  // namespace amdahl::testing
