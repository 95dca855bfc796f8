#pragma once
// Source text in, callable kernel out. The toolchain is the system's compiler; results are cached by everything that
// changes the bits: text, flags, compiler version, target.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "starter_kernels/toolchain/library_rules.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

struct CompileLimits {
  double seconds = 20;
  int64_t memory_bytes = int64_t{2} << 30;
};

struct CompileResult {
  bool ok = false;
  bool cached = false;
  bool timed_out = false;
  std::string library;   // path of the .so
  std::string message;   // compiler's first error line when !ok
  // Why not, in one word: "compile-error", "source-refused" (source_rules.h), "build-limit" (time, memory, size of a file),
  // "no-compiler" (one that is not g++), LibraryRefusal::code (library_rules.h); "" when ok. Stored in sessions: append only.
  std::string code;
  double seconds = 0;
};

// All flags a variant is compiled with, in order (also what an export's build file uses).
std::vector<std::string> compile_flags(const Variant& variant);

class ConfinedCompiler;
struct SubprocessResult;

class Toolchain {
 public:
  // `cache_dir`: where libraries live; created when missing. What does not keep the rules never comes to lie there. Throws
  // Error(kNoCompiler) when no compiler works.
  explicit Toolchain(std::string cache_dir, KernelRules rules = KernelRules::kAll);
  const std::string& description() const { return description_; }  // "g++ (Debian …) 12.2.0"
  // "" or one line: what this machine lacks to keep a hostile source from files and network (confined_compiler.h).
  static std::string weakness();
  // Safe to call from several threads. Never throws for a bad candidate; throws Error when nothing at all can be built any
  // more: kNoCompiler (the compiler has gone or hangs), kIo (no space, no processes).
  CompileResult compile(const Variant& variant, const CompileLimits& limits = {}) const;
  // `text` is nobody's that this program trusts.
  CompileResult compile_source(const std::string& text, const Variant& flags_of, const CompileLimits& limits = {}) const;
  // What an export takes of a text that is not this program's (resolved_text.h); compile() makes the same machine code of it. Not ok: why not.
  CompileResult resolve(const Variant& variant, std::string* text, const CompileLimits& limits = {}) const;
  // Build `number` (1, 2, ...) of the variant: the machine code of compile(), other addresses (placebo.h). The compiler runs
  // once for all numbers, the assembler for each.
  CompileResult compile_placebo(const Variant& variant, int number, const CompileLimits& limits = {}) const;

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
  CompileResult produce(const std::string& target, const Job& job, const std::vector<std::string>& arguments, std::string_view text,
                        const char* source, const CompileLimits& limits) const;
  void require_working(const CompileLimits& limits) const;

  std::string cache_dir_;
  KernelRules rules_;
  std::string description_;
  std::shared_ptr<const ConfinedCompiler> compiler_;
};

// $AMDAHL_CACHE, else $XDG_CACHE_HOME/amdahl, else ~/.cache/amdahl.
std::string default_cache_dir();

// A loaded kernel library; unloads on destruction.
class LoadedKernel {
 public:
  explicit LoadedKernel(const std::string& library);  // throws Error(kInternal) when it does not load
  ~LoadedKernel();
  LoadedKernel(LoadedKernel&&) noexcept;
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(LoadedKernel&&) = delete;

  size_t workspace_bytes() const { return workspace_bytes_(); }
  size_t packed_bytes(int input) const { return packed_bytes_(input); }
  void pack(int input, const void* raw, void* packed) const { pack_(input, raw, packed); }
  void run(const void* const* in, void* const* out, void* workspace) const { run_(in, out, workspace); }

 private:
  void* handle_ = nullptr;
  size_t (*workspace_bytes_)() = nullptr;
  size_t (*packed_bytes_)(int) = nullptr;
  void (*pack_)(int, const void*, void*) = nullptr;
  void (*run_)(const void* const*, void* const*, void*) = nullptr;
};

}  // namespace amdahl
