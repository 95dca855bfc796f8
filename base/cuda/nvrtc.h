#pragma once
// NVIDIA's compiler of CUDA C++ as a library (NVRTC), found when it is first asked for.

#include <string>
#include <vector>

namespace amdahl::cuda {

struct NvrtcResult {
  bool ok = false;
  std::string code;  // the compiled file
  std::string ptx;   // what it was assembled from
  std::string log;   // what the compiler says
};

class Nvrtc {
 public:
  // $AMDAHL_NVRTC, else libnvrtc of the system, of $CUDA_HOME or of /usr/local/cuda. Throws Error(kNoCompiler) that says how to get one.
  Nvrtc();
  std::string version() const;                       // "NVRTC 13.0"
  const std::string& path() const { return path_; }  // of the library
  // `architecture`: "sm_90a" for a cubin, "compute_80" for PTX, which drivers compile for any card of that capability or a later one.
  NvrtcResult compile(const std::string& text, const std::string& architecture) const;

 private:
  template <typename F>
  F* function(const char* name) const;

  void* library_ = nullptr;
  std::string path_;
};

}  // namespace amdahl::cuda
