#pragma once
// The files of the folders of the house, of its tests and benches, by extension. Hidden folders, as a bench's own environment, are left out.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace amdahl::testing {

inline std::vector<std::filesystem::path> house_files(const std::set<std::string>& extensions) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const char* top : {"base", "graph", "starter_kernels", "plan", "profiler", "playbook", "experiments", "tuner", "export", "cli", "tests", "bench"})
    for (auto it = fs::recursive_directory_iterator(fs::path(AMDAHL_SOURCE_DIR) / top); it != fs::recursive_directory_iterator(); ++it) {
      const fs::path& path = it->path();
      if (it->is_directory() && path.filename().string().starts_with('.')) it.disable_recursion_pending();
      if (it->is_regular_file() && extensions.count(path.extension())) files.push_back(path);
    }
  return files;
}

}  // namespace amdahl::testing
