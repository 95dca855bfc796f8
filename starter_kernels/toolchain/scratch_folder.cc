#include "starter_kernels/toolchain/scratch_folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/process_limits.h"

namespace fs = std::filesystem;

namespace amdahl {

// Named after the process: see sweep_scratch_folders().
ScratchFolder::ScratchFolder(const std::string& cache_dir) {
  static std::atomic<int> counter{0};
  path_ = fs::absolute(fmt::format("{}/kernels/building.{}.{}", cache_dir, getpid(), counter++)).string();
  std::error_code error;
  fs::remove_all(path_, error);  // of an earlier process with our number
  fs::create_directory(path_, error);
  if (error) throw machine_refuses("make " + path_, error.value());
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ScratchFolder::write(const char* name, std::string_view text) const {
  errno = 0;
  std::ofstream out(file(name), std::ios::binary);
  out << text;
  if (!out.flush()) throw machine_refuses("write " + file(name), errno);
}

void sweep_scratch_folders(const std::string& cache_dir) {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator it(cache_dir + "/kernels", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.rfind("building.", 0) != 0) continue;
    const int pid = std::atoi(name.c_str() + std::strlen("building."));
    std::error_code unknown;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(it->path(), unknown);
    if (!unknown && age > std::chrono::hours(1) && kill(pid, 0) != 0 && errno == ESRCH) left.push_back(it->path());
  }
  for (const fs::path& path : left) fs::remove_all(path, error);
}

}  // namespace amdahl
