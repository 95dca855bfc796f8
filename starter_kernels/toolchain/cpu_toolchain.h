#pragma once
// The toolchain of a CPU: the system's compilers, closed in (confined_compiler.h), and what their products must keep before they are loaded. Cached
// by text, flags, compiler version and target.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/library_rules.h"
#include "starter_kernels/toolchain/toolchain.h"

namespace amdahl {

// All flags a variant is compiled with, in order (also what an export's build file uses).
std::vector<std::string> compile_flags(const Variant& variant);

class ConfinedCompiler;
struct SubprocessResult;

class CpuToolchain : public Toolchain {
 public:
  // `cache_dir`: where libraries live; created when missing. What does not keep the rules never comes to lie there. Throws
  // Error(kNoCompiler) when no compiler works.
  explicit CpuToolchain(std::string cache_dir, KernelRules rules = KernelRules::kAll, Target target = cpu_target());
  const Target& target() const override { return target_; }
  const std::string& description() const override { return description_; }
  // "" or one line: what this machine lacks to keep a hostile source from files and network (confined_compiler.h).
  static std::string weakness();
  CompileResult compile(const Variant& variant, const CompileLimits& limits = {}) const override;
  // `text` is nobody's that this program trusts.
  CompileResult compile_source(const std::string& text, const Variant& flags_of, const CompileLimits& limits = {}) const;
  // Without its macros (resolved_text.h).
  CompileResult resolve(const Variant& variant, std::string* text, const CompileLimits& limits = {}) const override;
  // The compiler runs once for all numbers, the assembler for each.
  CompileResult compile_placebo(const Variant& variant, int number, const CompileLimits& limits = {}) const override;
  std::string code_hash(const std::string& artifact) const override;

 private:
  struct Job;
  enum class Author { kProgram, kOther };
  static Author author_of(const Variant& variant);
  Job job_of(const std::string& text, const Variant& variant, Author author) const;
  CompileResult library_of(const std::string& text, const Job& job, const CompileLimits& limits) const;
  CompileResult preprocess(const std::string& text, const Job& job, const CompileLimits& limits, std::string* output) const;
  CompileResult preprocessed_refusal(const std::string& text, const Job& job, const CompileLimits& limits) const;
  CompileResult failed_run(const SubprocessResult& run, const CompileLimits& limits) const;
  CompileResult padded(const std::string& assembly, const std::string& library, const Job& job, int number, const CompileLimits& limits) const;
  CompileResult produce(const std::string& target, const Job& job, const std::vector<std::string>& arguments, std::string_view text, const char* source,
                        const CompileLimits& limits) const;
  void require_working(const CompileLimits& limits) const;

  Target target_;
  std::string cache_dir_;
  KernelRules rules_;
  std::string description_;
  std::shared_ptr<const ConfinedCompiler> compiler_;
};

// $AMDAHL_CACHE, else $XDG_CACHE_HOME/amdahl, else ~/.cache/amdahl.
std::string default_cache_dir();

}  // namespace amdahl
