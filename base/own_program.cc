#include "base/own_program.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"

namespace amdahl {

namespace fs = std::filesystem;

std::string own_program(const std::string& name, const char* variable) {
  if (const char* path = std::getenv(variable); path && *path) return path;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& candidate : {here / name, here.parent_path() / name, here.parent_path() / "libexec/amdahl" / name})
    if (fs::exists(candidate)) return candidate;
  throw Error(ExitCode::kIo, fmt::format("{0} is missing beside {1} and in {1}/../libexec/amdahl: build or install it, or set {2} to its path", name,
                                         here.string(), variable));
}

}  // namespace amdahl
