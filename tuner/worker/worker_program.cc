#include "tuner/worker/worker_program.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace amdahl {

namespace fs = std::filesystem;

std::string worker_program() {
  if (const char* path = std::getenv("AMDAHL_WORKER"); path && *path) return path;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& candidate : {here / "amdahl-worker", here.parent_path() / "amdahl-worker", here.parent_path() / "libexec/amdahl/amdahl-worker"})
    if (fs::exists(candidate)) return candidate;
  throw Error(
      ExitCode::kIo,
      fmt::format("amdahl-worker is missing beside {0} and in {0}/../libexec/amdahl: build or install it, or set AMDAHL_WORKER to its path", here.string()));
}

}  // namespace amdahl
