#pragma once
// The kernels of an exported plan as source files. Each is there in two builds that live in one library: "tuned", compiled
// for the CPU at hand, and "portable", compiled for any of its architecture.

#include <string>
#include <vector>

#include "plan/plan.h"

namespace amdahl {

struct CxxKernel {
  std::string file;                // "k003_matmul.cpp", in src/kernels/ and src/portable/
  std::string tuned;               // the text of the first
  std::string portable;            // of the second: mostly an #include of the first
  std::vector<std::string> flags;  // the tuned build's own
  bool bf16 = false;               // the tuned build multiplies in bfloat16
  bool amx = false;                // … on AMX

  std::string name() const { return file.substr(0, file.find('.')); }  // "k003_matmul"
};

// `name` is the model's. Steps with equal variants share a kernel; `kernel_of[i]` is that of plan.steps[i].
std::vector<CxxKernel> cxx_kernels(const std::string& name, const Plan& plan, std::vector<int>* kernel_of);

// Declarations of both builds' functions, for kernel_tables.h, and their tables.
std::string cxx_kernel_tables(const std::string& name, const std::vector<CxxKernel>& kernels);

}  // namespace amdahl
