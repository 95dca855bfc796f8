#pragma once
// Kernels that begin while those before them still run (amdahl_begins_early, starter_kernels/cuda/kernels/prelude.h) wait for them before they touch what
// another may write. A trial cannot show that they do: in one, operands are there before the first kernel begins.

#include <string>

#include "base/cuda/cubin.h"
#include "starter_kernels/toolchain/ptx_code.h"

namespace amdahl {

// "", or what one of the cubin's launches may do before it has waited on every path: write, read what is no packed copy, or end.
std::string touches_before_it_waits(const PtxCode& code, const cuda::Cubin& cubin);

}  // namespace amdahl
