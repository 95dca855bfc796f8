#include "starter_kernels/toolchain/confined_compiler.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/no_network.h"

namespace fs = std::filesystem;

namespace amdahl {
namespace {

constexpr int64_t kFileBytes = int64_t{256} << 20;

// Folders to run programs from, the loader and its libraries among them.
const std::vector<std::string> kSystem{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"};
// Where programs and libraries are, what the system is, and what -march=native asks for on machines that are not x86.
const std::vector<std::string> kFacts{"/etc/ld.so.cache", "/etc/alternatives", "/etc/os-release", "/etc/debian_version",
                                      "/proc/cpuinfo",    "/proc/meminfo",     "/dev/urandom"};

fs::path in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "/usr/bin:/bin";
  for (size_t end = 0; end != std::string::npos; rest = end == std::string::npos ? "" : rest.substr(end + 1)) {
    end = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

bool of_system(const fs::path& folder) {
  for (const std::string& system : kSystem)
    if (folder == system || folder.string().rfind(system + "/", 0) == 0) return true;
  return false;
}

// The folder of the program and, of the place it is installed in, what compilers are made of. Not the whole place: that of
// ~/bin is the user's home.
std::vector<std::string> folders_of(const fs::path& program) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const fs::path& there : {program, fs::canonical(program, error)}) {
    const fs::path bin = there.parent_path();
    if (bin.empty() || of_system(bin)) continue;
    folders.push_back(bin);
    for (const char* part : {"lib", "lib64", "libexec", "include", "share"}) folders.push_back(bin.parent_path() / part);
  }
  return folders;
}

}  // namespace

ConfinedCompiler::ConfinedCompiler(const std::string& name) : name_(name), own_(folders_of(in_path(name))) {}

SubprocessResult ConfinedCompiler::run(const std::vector<std::string>& arguments, const std::string& folder, const CompileLimits& limits) const {
  FolderRules rules{.read = kFacts, .write = {folder, "/dev/null"}, .execute = kSystem};
  rules.execute.insert(rules.execute.end(), own_.begin(), own_.end());
  const FolderRestriction restriction(rules);
  std::vector<std::string> argv{name_};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  SubprocessSurroundings around;
  around.folder = folder;
  // A compiler behind ccache would keep what we keep already, in a folder that is closed. Messages are read for "error:".
  around.environment = {"TMPDIR=" + folder, "CCACHE_DISABLE=1", "LC_ALL=C"};
  if (!std::getenv("PATH")) around.environment.push_back("PATH=/usr/bin:/bin");  // gcc finds its own parts by it
  around.folders = restriction.why_not().empty() ? &restriction : nullptr;
  around.network = !can_close_network();
  return run_subprocess(argv, {limits.seconds, limits.memory_bytes, kFileBytes}, {}, around);
}

std::string ConfinedCompiler::weakness() {
  if (const FolderRestriction probe({}); !probe.why_not().empty()) return "compilers can read every file that you can: " + probe.why_not();
  return can_close_network() ? "" : "compilers can reach the network: this kernel has no seccomp filters";
}

}  // namespace amdahl
