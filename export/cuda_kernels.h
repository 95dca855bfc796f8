#pragma once
// The kernels of a plan for an NVIDIA card as an export has them: texts to read, code for the card that they were tuned on, and code for others.

#include <string>
#include <vector>

#include "base/cuda/cubin.h"
#include "export/export_folder.h"
#include "export/exporter.h"

namespace amdahl {

// Of "sm_90a": 9 and 0.
struct ComputeCapability {
  int major, minor;
};
ComputeCapability capability_of(const std::string& architecture);

struct CudaKernel {
  std::string file;   // "k003_matmul.cu", in kernels/, with a .cubin and a .ptx beside it
  cuda::Cubin cubin;  // how it is launched

  std::string name() const { return file.substr(0, file.find('.')); }  // "k003_matmul"
};

struct CudaKernels {
  std::vector<CudaKernel> kernels;      // distinct ones
  std::vector<std::string> library_of;  // of the plan's steps, for model_program(): Call::kernel is an index into `kernels`
  std::string architecture;             // of the cubins: "sm_90a"
  std::string not_portable;             // "", or why no kernel has a .ptx: a line that names one and the reason
};

// kernels/ and src/kernel_code.S, which puts the code into the library `name`. Throws Error(kNoCompiler) without NVRTC, kInternal where a kernel does not compile.
CudaKernels write_cuda_kernels(ExportFolder& folder, const std::string& name, const ExportRequest& request);

}  // namespace amdahl
