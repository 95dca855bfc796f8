#pragma once
// Neighbouring steps of a plan as one part, for hosts to which every operator costs something: a call into it, and memory of the
// host's choosing for what it hands on.

#include <string>
#include <vector>

#include "export/cxx_kernels.h"
#include "plan/program.h"

namespace amdahl {

struct Part {
  size_t first = 0, end = 0;         // of program.calls: [first, end)
  std::vector<int> inputs, outputs;  // buffers read from outside the part, weights too, and those read outside it or the model's outputs
};

// Cut where the steps since the last cut make a node's cost small: see kPartSeconds. Every call is in one part, in order.
std::vector<Part> parts_of(const Program& program, const Plan& plan);

// "part003_k007_conv_to_k009_pool": an identifier.
std::string name_of_part(const Part& part, size_t number, const Program& program, const std::vector<CxxKernel>& kernels);

}  // namespace amdahl
