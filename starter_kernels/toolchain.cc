#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/hash.h"
#include "base/machine.h"
#include "base/subprocess.h"
#include "starter_kernels/backend.h"
#include "starter_kernels/kernel_kind.h"
#include "starter_kernels/placebo.h"

namespace fs = std::filesystem;

namespace amdahl {
namespace {

// Common to every kernel. Value-changing shortcuts (-ffast-math and its parts that reassociate or assume no NaN) are left
// out: what a kernel reassociates it does in its own text. Traps and errno are never looked at.
const std::vector<std::string> kCommonFlags{"-std=gnu++20",        "-O3",   "-march=native",     "-fopenmp",
                                            "-fno-math-errno",     "-fPIC", "-fno-trapping-math", "-ffp-contract=fast",
                                            "-fno-stack-protector", "-w"};

std::string first_error(const std::string& output) {
  size_t at = output.find("error:");
  if (at == std::string::npos) at = 0;
  std::string line = output.substr(at, output.find('\n', at) - at);
  return line.substr(0, 300);
}

bool write_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  return static_cast<bool>(out.flush());
}

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

Toolchain::Toolchain(std::string cache_dir) : cache_dir_(std::move(cache_dir)) {
  std::error_code error;
  fs::create_directories(cache_dir_ + "/kernels", error);
  if (error || access((cache_dir_ + "/kernels").c_str(), W_OK) != 0)
    throw Error(ExitCode::kIo, fmt::format("cannot write the cache folder {}: set AMDAHL_CACHE or --cache to a folder that "
                                           "can be written",
                                           cache_dir_));
  for (const std::string compiler : {"g++", "clang++"}) {
    const SubprocessResult r = run_subprocess({compiler, "--version"}, {10});
    if (!r.ok()) continue;
    const std::string version = r.output.substr(0, r.output.find('\n'));
    versions_[compiler] = version;
    description_ += (description_.empty() ? "" : "; ") + version;
  }
  if (versions_.empty())
    throw Error(ExitCode::kNoCompiler, "no C++ compiler found: install one (apt-get install g++) and run again");
}

bool Toolchain::has(const std::string& compiler) const { return versions_.count(compiler) > 0; }

// What is compiled, and the stem of all files that come of it.
struct Toolchain::Job {
  std::string compiler, stem;  // no stem: the compiler is not installed
  std::vector<std::string> flags;
};

namespace {

std::string source_of(const Variant& variant) {
  return variant.source_override.empty() ? kernel_kind(variant.problem.kind).source(variant) : variant.source_override;
}

CompileResult failed(std::string message) {
  CompileResult r;
  r.message = std::move(message);
  return r;
}

CompileResult found(const std::string& library) {
  CompileResult r;
  r.ok = r.cached = true;
  r.library = library;
  return r;
}

bool is_there(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

}  // namespace

Toolchain::Job Toolchain::job_of(const std::string& text, const Variant& variant) const {
  Job job;
  job.compiler = variant.compiler;
  const auto version = versions_.find(variant.compiler);
  if (version == versions_.end()) return job;
  job.flags = compile_flags(variant);
  const std::string key = hash_hex(
      fmt::format("{}\n{}\n{}\n{}", version->second, this_machine().fingerprint(), fmt::join(job.flags, " "), text));
  job.stem = fmt::format("{}/kernels/{}", cache_dir_, key);
  return job;
}

// Written under a name of our own and renamed, so that a killed compile leaves nothing that looks finished.
CompileResult Toolchain::produce(const std::string& target, const Job& job, const std::vector<std::string>& arguments,
                                 std::string_view text, const char* suffix, const CompileLimits& limits) const {
  CompileResult result;
  result.library = target;
  static std::atomic<int> counter{0};
  const std::string mine = fmt::format("{}.{}.{}", target, getpid(), counter++);
  const std::string source = mine + suffix, made = mine + ".out";
  if (!write_file(source, text)) {
    unlink(source.c_str());
    result.message = fmt::format("cannot write {}", source);
    return result;
  }
  std::vector<std::string> argv{job.compiler};
  argv.insert(argv.end(), job.flags.begin(), job.flags.end());
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  argv.insert(argv.end(), {"-o", made, source});
  const SubprocessResult r = run_subprocess(argv, {limits.seconds, limits.memory_bytes});
  result.seconds = r.seconds;
  result.timed_out = r.timed_out;
  result.ok = r.ok() && rename(made.c_str(), target.c_str()) == 0;
  // A kernel's text stays beside its library, for people.
  if (!result.ok || std::string_view(suffix) != ".cpp" || rename(source.c_str(), (job.stem + ".cpp").c_str()) != 0) unlink(source.c_str());
  if (result.ok) return result;
  unlink(made.c_str());
  result.message = r.timed_out ? fmt::format("compiler ran past {:.0f} s and was killed", limits.seconds)
                   : r.signal  ? fmt::format("compiler was killed by signal {}", r.signal)
                               : first_error(r.output);
  return result;
}

CompileResult Toolchain::compile(const Variant& variant, const CompileLimits& limits) const {
  try {
    return compile_source(source_of(variant), variant, limits);
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

CompileResult Toolchain::compile_source(const std::string& text, const Variant& flags_of, const CompileLimits& limits) const {
  const Job job = job_of(text, flags_of);
  if (job.stem.empty()) return failed(job.compiler + " is not installed");
  const std::string library = job.stem + ".so";
  if (is_there(library)) return found(library);
  return produce(library, job, {"-shared"}, text, ".cpp", limits);
}

CompileResult Toolchain::compile_placebo(const Variant& variant, int number, const CompileLimits& limits) const {
  try {
    const std::string text = source_of(variant);
    const Job job = job_of(text, variant);
    if (job.stem.empty()) return failed(job.compiler + " is not installed");
    const std::string library = fmt::format("{}.p{}.so", job.stem, number), assembly = job.stem + ".s";
    if (is_there(library)) return found(library);
    CompileResult result;
    if (!is_there(assembly)) result = produce(assembly, job, {"-S"}, text, ".cpp", limits);
    const double compiling = result.seconds;
    if (compiling > 0 && !result.ok) return result;
    std::ifstream in(assembly, std::ios::binary);
    const std::string lines((std::istreambuf_iterator<char>(in)), {});
    if (lines.empty()) return failed(fmt::format("{} cannot be read: remove it and run again", assembly));
    const uint64_t seed = hash64(fmt::format("{} {}", fs::path(job.stem).filename().string(), number));
    result = produce(library, job, {"-shared"}, pad_functions(lines, seed), ".s", limits);
    result.seconds += compiling;
    return result;
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

}  // namespace amdahl
