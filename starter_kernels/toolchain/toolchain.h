#pragma once
// Source text in, an artifact that can be loaded out: how a target's kernels are built. Results are cached by everything that changes the bits.

#include <cstdint>
#include <string>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {

struct CompileLimits {
  double seconds = 20;
  int64_t memory_bytes = int64_t{2} << 30;
};

struct CompileResult {
  bool ok = false;
  bool cached = false;
  bool timed_out = false;
  std::string library;  // path of the artifact: of a CPU's kernels a .so
  std::string message;  // compiler's first error line when !ok
  // Why not, in one word: "compile-error", "source-refused" (source_rules.h), "build-limit" (time, memory, size of a file),
  // "no-compiler" (one that is not the toolchain's), LibraryRefusal::code (library_rules.h); "" when ok. Stored in sessions: append only.
  std::string code;
  double seconds = 0;
};

inline constexpr const char* kNoLayouts = "no-layouts";

// Safe to use from several threads. compile() and compile_placebo() never throw for a bad candidate; they throw Error when nothing at all can be built
// any more: kNoCompiler (the compiler has gone or hangs), kIo (no space, no processes).
class Toolchain {
 public:
  virtual ~Toolchain() = default;
  virtual const Target& target() const = 0;            // what it builds for
  virtual const std::string& description() const = 0;  // "g++ (Debian …) 12.2.0": part of a session's identity
  virtual CompileResult compile(const Variant& variant, const CompileLimits& limits = {}) const = 0;
  virtual bool has_layouts() const { return true; }  // whether compile_placebo() makes any
  // Build `number` (1, 2, ...) of the variant: the code of compile() at other addresses (placebo.h). Not ok with the code kNoLayouts where a
  // device's code has no addresses to choose.
  virtual CompileResult compile_placebo(const Variant& variant, int number, const CompileLimits& limits = {}) const = 0;
  // The text of a variant that is not this program's as an export hands it on; compile() makes the same code of it. Not ok: why not. Where exports carry
  // the code itself, it is the text as it stands.
  virtual CompileResult resolve(const Variant& variant, std::string* text, const CompileLimits& limits = {}) const {
    (void)limits;
    *text = variant.source_override;
    CompileResult result;
    result.ok = true;
    return result;
  }
  // Identity of an artifact by what it does: two variants with the same instructions and data are one candidate. "" when it is no artifact.
  virtual std::string code_hash(const std::string& artifact) const = 0;
};

}  // namespace amdahl
