#pragma once
// The toolchain of NVIDIA's cards: NVRTC in a process of its own (amdahl-nvrtc), closed in as a CPU's compiler is, and what its products must keep
// before they are loaded (base/cuda/cubin.h). No card is needed to compile. Cached by text, compiler version and architecture.

#include <memory>
#include <string>

#include "starter_kernels/toolchain/ptx_rules.h"
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
  // PTX, for cards other than the target's: `library` is its path. Of a text that needs what not every card of compute capability 8.0 has, it is not ok.
  CompileResult compile_portable(const Variant& variant, const CompileLimits& limits = {}) const;
  const std::string& architecture() const { return architecture_; }  // of cubins: "sm_90a"
  CompileResult compile_placebo(const Variant& variant, int number, const CompileLimits& limits = {}) const override;
  std::string code_hash(const std::string& artifact) const override;

 private:
  // `architecture` as NVRTC names it; `refuse`: what a product, or what it was assembled from, breaks. Products are kept as PATH.extension.
  CompileResult build(const Variant& variant, const std::string& architecture, const std::string& extension,
                      PtxRefusal (*refuse)(const std::string& path, const std::string& ptx), const CompileLimits& limits) const;

  Target target_;
  std::string cache_dir_, architecture_, description_;
  std::shared_ptr<const ConfinedCompiler> compiler_;
};

}  // namespace amdahl
