#include "starter_kernels/toolchain/kernel_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/error.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

// A file that goes when it is closed.
int nameless_file(const std::string& folder) {
  if (const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); fd >= 0) return fd;
  std::string name = folder + "/probe.XXXXXX";  // file systems without O_TMPFILE
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

std::string place_that_will_do() {
  for (const char* place : {"/var/tmp", "/tmp", "/dev/shm"})
    if (can_run_from(place)) return fmt::format(", as in --cache {}/amdahl-{}", place, getuid());
  return "";
}

// A compiler whose files are cut off would look as if it did not like the text.
void require_file_size() {
  constexpr rlim_t kNeeded = rlim_t{16} << 20;
  rlimit r{};
  if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur < kNeeded)
    throw Error(ExitCode::kIo,
                fmt::format("files may not grow past {} bytes here, compilers need {} MiB: raise that limit (ulimit -f unlimited)", r.rlim_cur, kNeeded >> 20));
}

}  // namespace

bool can_run_from(const std::string& folder) {
  const int fd = nameless_file(folder);
  if (fd < 0) return false;
  void* page = ftruncate(fd, 4096) == 0 ? mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (page == MAP_FAILED) return false;
  munmap(page, 4096);
  return true;
}

void make_kernel_folder(const std::string& cache_dir) {
  require_file_size();
  const std::string folder = cache_dir + "/kernels";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0)
    throw Error(ExitCode::kIo, fmt::format("cannot write the cache folder {}: set AMDAHL_CACHE or --cache to a folder that can be written", cache_dir));
  const int fd = nameless_file(folder);
  if (fd < 0) return;  // no space: the first compile says so, better
  close(fd);
  if (!can_run_from(folder))
    throw Error(ExitCode::kIo, fmt::format("compiled kernels cannot be run from the cache folder {}, whose file system is mounted noexec: set XDG_CACHE_HOME, "
                                           "AMDAHL_CACHE or --cache to a folder elsewhere{}",
                                           cache_dir, place_that_will_do()));
}

}  // namespace amdahl
