#pragma once
// The toolchain of NVIDIA's cards: NVRTC in a process of its own (amdahl-nvrtc), closed in as a CPU's compiler is, and what its products must keep
// before they are loaded (base/cuda/cubin.h). No card is needed to compile. Cached by text, compiler version and architecture.

#include <memory>
#include <string>

#include "starter_kernels/toolchain/toolchain.h"

namespace amdahl {

class ConfinedCompiler;

class CudaToolchain : public Toolchain {
 public:
  // Throws Error(kNoCompiler) where there is no NVRTC, kIo where nothing can be written to `cache_dir`.
  CudaToolchain(std::string cache_dir, Target target);
  const Target& target() const override { return target_; }
  const std::string& description() const override { return description_; }
  CompileResult compile(const Variant& variant, const CompileLimits& limits = {}) const override;
  bool has_layouts() const override { return false; }
  CompileResult compile_placebo(const Variant& variant, int number, const CompileLimits& limits = {}) const override;
  std::string code_hash(const std::string& artifact) const override;

 private:
  Target target_;
  std::string cache_dir_, architecture_, description_;
  std::shared_ptr<const ConfinedCompiler> compiler_;
};

}  // namespace amdahl
