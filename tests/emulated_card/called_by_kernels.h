#pragma once
// What the thread that runs reads of itself (called_by_kernels.cc has what it calls).

#include "tests/emulated_card/language/calls.h"

extern "C" {
extern Dimensions threadIdx, blockIdx, blockDim, gridDim;
}
