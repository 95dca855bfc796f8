#include "base/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

namespace amdahl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// "max", as version 2 writes it, is no number.
int64_t number_in(const fs::path& file) {
  int64_t bytes = kNone;
  return std::ifstream(file) >> bytes && bytes > 0 ? bytes : kNone;
}

// A group is bound by the limits of those above it too. Inside a container the path may be the host's, of which only the root is there.
int64_t limit_above(const fs::path& root, fs::path group, const char* file) {
  int64_t least = kNone;
  for (group = group.relative_path();; group = group.parent_path()) {
    least = std::min(least, number_in(root / group / file));
    if (group.empty()) return least;
  }
}

}  // namespace

int64_t cgroup_memory_limit(const std::string& membership, const fs::path& root) {
  int64_t least = kNone;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // number:controllers:path
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",", group = line.substr(second + 1);
    if (controllers == ",,") least = std::min(least, limit_above(root, group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) least = std::min(least, limit_above(root / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

int64_t usable_memory_bytes() {
  std::ifstream in("/proc/self/cgroup");
  const std::string membership{std::istreambuf_iterator<char>(in), {}};
  return std::min(static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE), cgroup_memory_limit(membership, "/sys/fs/cgroup"));
}

}  // namespace amdahl
