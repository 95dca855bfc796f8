#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/hash.h"
#include "base/machine.h"
#include "base/subprocess.h"
#include "starter_kernels/backend.h"
#include "starter_kernels/kernel_kind.h"

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

CompileResult Toolchain::compile(const Variant& variant, const CompileLimits& limits) const {
  try {
    return compile_source(variant.source_override.empty() ? kernel_kind(variant.problem.kind).source(variant)
                                                          : variant.source_override,
                          variant, limits);
  } catch (const std::exception& e) {
    CompileResult r;
    r.message = e.what();
    return r;
  }
}

CompileResult Toolchain::compile_source(const std::string& text, const Variant& flags_of, const CompileLimits& limits) const {
  CompileResult result;
  const auto version = versions_.find(flags_of.compiler);
  if (version == versions_.end()) {
    result.message = flags_of.compiler + " is not installed";
    return result;
  }
  const std::vector<std::string> flags = compile_flags(flags_of);
  const std::string key = hash_hex(
      fmt::format("{}\n{}\n{}\n{}", version->second, this_machine().fingerprint(), fmt::join(flags, " "), text));
  const std::string stem = fmt::format("{}/kernels/{}", cache_dir_, key);
  result.library = stem + ".so";
  if (access(result.library.c_str(), R_OK) == 0) {
    result.ok = result.cached = true;
    return result;
  }
  // Written under a name of our own and renamed, so that a killed compile leaves nothing that looks finished.
  static std::atomic<int> counter{0};
  const std::string mine = fmt::format("{}.{}.{}", stem, getpid(), counter++);
  const std::string source = stem + ".cpp";
  if (!write_file(mine + ".cpp", text)) {
    result.message = fmt::format("cannot write {}", mine);
    unlink((mine + ".cpp").c_str());
    return result;
  }
  std::vector<std::string> argv{flags_of.compiler};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {"-shared", "-o", mine + ".so", mine + ".cpp"});
  const SubprocessResult r = run_subprocess(argv, {limits.seconds, limits.memory_bytes});
  result.seconds = r.seconds;
  result.timed_out = r.timed_out;
  if (r.ok() && rename((mine + ".so").c_str(), result.library.c_str()) == 0) {
    rename((mine + ".cpp").c_str(), source.c_str());
    result.ok = true;
    return result;
  }
  unlink((mine + ".so").c_str());
  unlink((mine + ".cpp").c_str());
  result.message = r.timed_out ? fmt::format("compiler ran past {:.0f} s and was killed", limits.seconds)
                   : r.signal  ? fmt::format("compiler was killed by signal {}", r.signal)
                               : first_error(r.output);
  return result;
}

}  // namespace amdahl
