#include "starter_kernels/toolchain/cpu_toolchain.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/hash.h"
#include "base/process_limits.h"
#include "base/subprocess.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/toolchain/compile_results.h"
#include "starter_kernels/toolchain/confined_compiler.h"
#include "starter_kernels/toolchain/kernel_folder.h"
#include "starter_kernels/toolchain/object_code.h"
#include "starter_kernels/toolchain/placebo.h"
#include "starter_kernels/toolchain/resolved_text.h"
#include "starter_kernels/toolchain/scratch_folder.h"
#include "starter_kernels/toolchain/source_rules.h"

namespace fs = std::filesystem;

namespace amdahl {
namespace {

// Common to every kernel. Value-changing shortcuts (-ffast-math and its parts that reassociate or assume no NaN) are left
// out: what a kernel reassociates it does in its own text. Traps and errno are never looked at.
const std::vector<std::string> kCommonFlags{
    "-std=gnu++20", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fPIC", "-fno-trapping-math", "-ffp-contract=fast", "-fno-stack-protector", "-w"};

constexpr const char* kSource = "kernel.cpp";

// One compiler is judged: docs/decisions/0032-one-compiler.md.
constexpr const char* kCompiler = "g++";

// Part of a library's name in the cache: what an earlier program built was judged by its rules. Raise it with them.
constexpr const char* kRulesVersion = "rules 1";

// Names of the C and C++ run-time and of OpenMP are left to the process that loads the kernel, which holds those libraries:
// reading their tables took ld 50 of the 80 ms of a placebo build.
const std::vector<std::string> kLinkArguments{"-shared", "-nodefaultlibs"};

}  // namespace

std::vector<std::string> compile_flags(const Variant& variant) {
  std::vector<std::string> flags = kCommonFlags;
  flags.insert(flags.end(), variant.flags.begin(), variant.flags.end());
  return flags;
}

std::string default_cache_dir() {
  if (const char* dir = std::getenv("AMDAHL_CACHE"); dir && *dir) return dir;
  if (const char* dir = std::getenv("XDG_CACHE_HOME"); dir && *dir) return std::string(dir) + "/amdahl";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/amdahl";
  return "/tmp/amdahl-cache";
}

CpuToolchain::CpuToolchain(std::string cache_dir, KernelRules rules, Target target)
    : target_(std::move(target)), cache_dir_(std::move(cache_dir)), rules_(rules) {
  make_kernel_folder(cache_dir_);
  sweep_scratch_folders(cache_dir_);
  const SubprocessResult r = run_subprocess({kCompiler, "--version"}, {10});
  if (!r.ok()) throw Error(ExitCode::kNoCompiler, "no C++ compiler found: install one (apt-get install g++) and run again");
  description_ = r.output.substr(0, r.output.find('\n'));
  compiler_ = std::make_shared<const ConfinedCompiler>(kCompiler);
}

std::string CpuToolchain::weakness() { return ConfinedCompiler::weakness(); }

// What is compiled, and the stem of all files that come of it.
struct CpuToolchain::Job {
  std::string stem;
  std::vector<std::string> flags;
  bool own = false;          // the text is this program's own
  CompileResult impossible;  // without a code when it can be tried
};

namespace {

std::string refused_text(const std::string& text, const Variant& variant, KernelRules rules) {
  if (rules != KernelRules::kAll) return "";
  const std::string why = refused_flags(variant.flags);
  return why.empty() ? refused_source(text) : why;
}

}  // namespace

// A kind writes the text of what has none of its own.
CpuToolchain::Author CpuToolchain::author_of(const Variant& variant) { return variant.source_override.empty() ? Author::kProgram : Author::kOther; }

CpuToolchain::Job CpuToolchain::job_of(const std::string& text, const Variant& variant, Author author) const {
  Job job;
  job.own = author == Author::kProgram;
  if (variant.compiler != kCompiler) {  // an older session's
    job.impossible = failed("no-compiler", variant.compiler + " compiles no kernels");
    return job;
  }
  if (const std::string why = refused_text(text, variant, rules_); !why.empty()) {
    job.impossible = failed("source-refused", why);
    return job;
  }
  job.flags = compile_flags(variant);
  const std::string key = hash_hex(fmt::format("{}\n{}\n{}\n{}\n{}", rules_ == KernelRules::kAll ? kRulesVersion : "symbols alone", description_,
                                               target_.device.fingerprint(), fmt::join(job.flags, " "), text));
  job.stem = fmt::format("{}/kernels/{}", cache_dir_, key);
  return job;
}

// Made elsewhere and renamed, so that a killed compile leaves nothing that looks finished, and nothing that breaks the rules.
CompileResult CpuToolchain::produce(const std::string& target, const Job& job, const std::vector<std::string>& arguments, std::string_view text,
                                    const char* source, const CompileLimits& limits) const {
  const ScratchFolder scratch(cache_dir_);
  scratch.write(source, text);
  std::vector<std::string> all = job.flags;
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), {"-o", "kernel.out", source});
  // What GCC itself adds to a text comes from its archive: the processor that versions of a function are chosen by.
  all.push_back("-lgcc");
  const SubprocessResult r = compiler_->run(all, scratch.path(), limits);
  if (!r.ok()) return failed_run(r, limits);
  CompileResult result;
  if (target.ends_with(".so"))
    if (const LibraryRefusal refused = refused_library(scratch.file("kernel.out"), job.own, rules_); !refused.code.empty())
      result = failed(refused.code, "the kernel's library " + refused.reason);
  result.seconds = r.seconds;
  if (!result.code.empty() || rename(scratch.file("kernel.out").c_str(), target.c_str()) != 0) return result.code.empty() ? failed_run(r, limits) : result;
  // A kernel's text stays beside its library, for people.
  if (source == std::string_view(kSource)) rename(scratch.file(source).c_str(), (job.stem + ".cpp").c_str());
  result.library = target;
  result.ok = true;
  return result;
}

CompileResult CpuToolchain::failed_run(const SubprocessResult& run, const CompileLimits& limits) const {
  require_working(limits);
  CompileResult result =
      failed(hit_a_limit(run) ? "build-limit" : "compile-error", run.timed_out ? fmt::format("compiler ran past {:.0f} s and was killed", limits.seconds)
                                                                 : run.signal  ? fmt::format("compiler was killed by signal {}", run.signal)
                                                                               : first_error(run.output));
  result.seconds = run.seconds;
  result.timed_out = run.timed_out;
  return result;
}

// With a code when the preprocessor refuses the text.
CompileResult CpuToolchain::preprocess(const std::string& text, const Job& job, const CompileLimits& limits, std::string* output) const {
  const ScratchFolder scratch(cache_dir_);
  scratch.write(kSource, text);
  std::vector<std::string> all = job.flags;
  for (const std::string& argument : preprocess_arguments()) all.push_back(argument);
  all.insert(all.end(), {"-o", "kernel.ii", kSource});
  const SubprocessResult r = compiler_->run(all, scratch.path(), limits);
  if (!r.ok()) return failed_run(r, limits);
  std::ifstream in(scratch.file("kernel.ii"), std::ios::binary);
  output->assign(std::istreambuf_iterator<char>(in), {});
  return {};
}

// With a code when what the preprocessor makes of the text breaks the rules: 20 ms, of 100 to 1500 that the compiler takes. Our own texts
// have names in them that come from sessions and models.
CompileResult CpuToolchain::preprocessed_refusal(const std::string& text, const Job& job, const CompileLimits& limits) const {
  if (rules_ != KernelRules::kAll) return {};
  std::string output;
  const CompileResult failure = preprocess(text, job, limits, &output);
  if (!failure.code.empty()) return failure;
  const std::string why = refused_preprocessed(output, kSource);
  return why.empty() ? CompileResult{} : failed("source-refused", why);
}

CompileResult CpuToolchain::resolve(const Variant& variant, std::string* text, const CompileLimits& limits) const {
  const Job job = job_of(variant.source_override, variant, Author::kOther);
  if (!job.impossible.code.empty()) return job.impossible;
  std::string output;
  CompileResult result = preprocess(variant.source_override, job, limits, &output);
  result.ok = result.code.empty();
  if (result.ok) *text = resolved_text(variant.source_override, output, kSource);
  return result;
}

// A candidate is blamed only while a source that cannot be at fault builds: else a full disk, or a compiler that is being
// upgraded, would use up one candidate after the other.
void CpuToolchain::require_working(const CompileLimits& limits) const {
  const ScratchFolder scratch(cache_dir_);
  scratch.write(kSource, "int nothing;\n");
  std::vector<std::string> arguments = kCommonFlags;
  arguments.insert(arguments.end(), {"-shared", "-o", "kernel.out", kSource});
  const SubprocessResult r = compiler_->run(arguments, scratch.path(), {std::min(limits.seconds, 20.0), limits.memory_bytes});
  if (r.ok()) return;
  if (tells_of_refusal(r.output) && r.output.find("No space left") == std::string::npos)
    throw Error(ExitCode::kIo,
                fmt::format("the machine refuses {} what it needs ({}): raise its limits (ulimit -n, -u, -f) or close other programs, then go on with "
                            "resume",
                            kCompiler, first_error(r.output)));
  if (r.output.find("No space left") != std::string::npos)
    throw Error(ExitCode::kIo, fmt::format("no space left in {}: free some, then go on with resume", cache_dir_));
  const std::string why = r.timed_out ? "it hangs" : r.exit_code == 127 && r.output.empty() ? "it is not there any more" : first_error(r.output);
  throw Error(ExitCode::kNoCompiler, fmt::format("{0} builds nothing at all ({1}): check it with `{0} --version` (apt-get install "
                                                 "g++ installs one), then go on with resume",
                                                 kCompiler, why));
}

CompileResult CpuToolchain::compile(const Variant& variant, const CompileLimits& limits) const {
  std::string text;
  CompileResult failure;
  if (!write_source(target_, variant, &text, &failure)) return failure;
  return library_of(text, job_of(text, variant, author_of(variant)), limits);
}

CompileResult CpuToolchain::compile_source(const std::string& text, const Variant& flags_of, const CompileLimits& limits) const {
  return library_of(text, job_of(text, flags_of, Author::kOther), limits);
}

CompileResult CpuToolchain::library_of(const std::string& text, const Job& job, const CompileLimits& limits) const {
  if (!job.impossible.code.empty()) return job.impossible;
  const std::string library = job.stem + ".so";
  if (is_whole(library)) return found(library);
  if (const CompileResult refused = preprocessed_refusal(text, job, limits); !refused.code.empty()) return refused;
  return produce(library, job, kLinkArguments, text, kSource, limits);
}

CompileResult CpuToolchain::compile_placebo(const Variant& variant, int number, const CompileLimits& limits) const {
  std::string text;
  CompileResult result;
  if (!write_source(target_, variant, &text, &result)) return result;
  const Job job = job_of(text, variant, author_of(variant));
  if (!job.impossible.code.empty()) return job.impossible;
  const std::string library = fmt::format("{}.p{}.so", job.stem, number), assembly = job.stem + ".s";
  if (is_whole(library)) return found(library);
  if (!is_there(assembly)) {
    if (!is_there(job.stem + ".so")) result = preprocessed_refusal(text, job, limits);  // what became a library kept the rules
    if (result.code.empty()) result = produce(assembly, job, {"-S"}, text, kSource, limits);
  }
  const double compiling = result.seconds;
  if (!result.code.empty()) return result;
  result = padded(assembly, library, job, number, limits);
  result.seconds += compiling;
  return result;
}

// Paddings move what branches and operands count, which may then read as a call of the system (machine_code.h): others are tried.
CompileResult CpuToolchain::padded(const std::string& assembly, const std::string& library, const Job& job, int number, const CompileLimits& limits) const {
  std::ifstream in(assembly, std::ios::binary);
  const std::string lines((std::istreambuf_iterator<char>(in)), {});
  if (lines.empty()) return failed("compile-error", fmt::format("{} cannot be read: remove it and run again", assembly));
  CompileResult result;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const uint64_t seed = hash64(fmt::format("{} {}{}", fs::path(job.stem).filename().string(), number, attempt > 0 ? fmt::format(" {}", attempt) : ""));
    result = produce(library, job, kLinkArguments, pad_functions(lines, seed), "kernel.s", limits);
    if (result.code != "forbidden-instruction") break;
  }
  return result;
}

std::string CpuToolchain::code_hash(const std::string& artifact) const { return object_code_hash(artifact); }

}  // namespace amdahl
