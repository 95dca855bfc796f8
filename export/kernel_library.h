#pragma once
// The kernels of a plan as a library that CMake builds, in both builds, with what chooses between them: the part that all
// formats which are compiled share.

#include <string>
#include <vector>

#include "export/cxx_kernels.h"
#include "export/export_folder.h"
#include "plan/plan.h"

namespace amdahl {

struct KernelLibrary {
  std::vector<CxxKernel> kernels;
  std::vector<std::string> library_of;  // of the plan's steps, for model_program(): Call::kernel is an index into `kernels`
  Words words;                          // for the texts of a format: NAME, CPU, BF16_NOTE
};

// src/kernels/, src/portable/, src/kernel_tables.h and what they need, and cmake/kernels.cmake, which makes the object library
// NAME_kernels of them. `name` is an identifier.
KernelLibrary write_kernel_library(ExportFolder& folder, const std::string& name, const Plan& plan);

}  // namespace amdahl
