#include "cli/bound_spinning.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

namespace amdahl {

int spin_count(const std::string& stat, int cores) {
  constexpr int kAlone = 20000, kBesideOthers = 1000;
  const std::string name = "procs_running ";
  const size_t at = stat.find(name);
  if (at == std::string::npos) return kAlone;
  const int others = std::atoi(stat.c_str() + at + name.size()) - 1;
  return 8 * others > cores ? kBesideOthers : kAlone;
}

void bound_spinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY")) return;
  std::ifstream file("/proc/stat");
  std::stringstream stat;
  stat << file.rdbuf();
  setenv("GOMP_SPINCOUNT", std::to_string(spin_count(stat.str(), static_cast<int>(std::thread::hardware_concurrency()))).c_str(), 0);
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!unknown) execv(self.c_str(), argv);  // where that fails, teams wait as the library has it
}

}  // namespace amdahl
