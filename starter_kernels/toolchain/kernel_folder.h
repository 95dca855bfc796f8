#pragma once
// Where compiled kernels lie, which has to be a place that code can be run from.

#include <string>

namespace amdahl {

// Makes CACHE/kernels where it is missing. Throws Error(kIo) when nothing can be written there, or nothing be run from there (a file system that is
// mounted noexec), or files may not be as large as a compiler's: told before anything is compiled, and with a folder that will do, where one is found.
void make_kernel_folder(const std::string& cache_dir);

// Whether code in a file of this folder can be mapped to be run.
bool can_run_from(const std::string& folder);

}  // namespace amdahl
