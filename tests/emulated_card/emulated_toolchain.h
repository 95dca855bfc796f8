#pragma once
// The toolchain of the emulated card: a card's text, compiled by g++ with CUDA's words before it (language/). Cached by all of that.

#include <string>

#include "starter_kernels/toolchain/toolchain.h"

namespace amdahl::testing {

class EmulatedToolchain : public Toolchain {
 public:
  EmulatedToolchain(std::string cache_dir, Target target);
  const Target& target() const override { return target_; }
  const std::string& description() const override { return description_; }
  // The variant's flags are another compiler's.
  CompileResult compile(const Variant& variant, const CompileLimits& limits = {}) const override;
  bool has_layouts() const override { return false; }
  CompileResult compile_placebo(const Variant& variant, int number, const CompileLimits& limits = {}) const override;
  std::string code_hash(const std::string& artifact) const override;

 private:
  std::string emulated(std::string text) const;

  Target target_;
  std::string cache_dir_, description_;
  std::string calls_, cuda_, half_, mma_;  // language/
};

}  // namespace amdahl::testing
