#pragma once

#include "graph/expansion.h"

namespace amdahl {

// BatchNormalization whose training_mode is set, written with the mean and variance of the batch; nothing where it is not.
void write_out_training(Expansion& e);

}  // namespace amdahl
