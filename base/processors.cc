#include "base/processors.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

namespace amdahl {
namespace {

std::string ranges_text(const std::vector<int>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (end - i > 1) text += fmt::format("-{}", numbers[end - 1]);
    i = end;
  }
  return text;
}

// "150000 100000", or "max 100000".
double quota_v2(const std::string& folder) {
  std::ifstream in(folder + "/cpu.max");
  double quota = 0, period = 0;
  return in >> quota >> period && period > 0 ? quota / period : 0;
}

double quota_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period : 0;
}

// What `quota_in` finds in the group's folder and in those above it.
template <typename QuotaIn>
void take_least(const std::string& mounted, std::string group, QuotaIn quota_in, double* least) {
  for (;;) {
    if (const double quota = quota_in(mounted + group); quota > 0 && (*least == 0 || quota < *least)) *least = quota;
    if (group.empty()) return;
    group.resize(std::min(group.find_last_of('/'), group.size()));
  }
}

Processors own_processors() {
  Processors p;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    std::vector<int> numbers;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) numbers.push_back(cpu);
    p.count = std::max(1, static_cast<int>(numbers.size()));
    p.list = ranges_text(numbers);
  }
  const double quota = cpu_quota();
  if (quota < p.count) p.quota = quota;
  return p;
}

}  // namespace

int Processors::usable() const { return quota > 0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, count) : count; }

std::string Processors::text() const { return quota > 0 ? fmt::format("{}, {:.2f} of their time", list, quota) : list; }

const Processors& processors() {
  static const Processors found = own_processors();
  return found;
}

double cpu_quota(const std::string& own, const std::string& root) {
  double least = 0;
  std::ifstream in(own);
  for (std::string line; std::getline(in, line);) {  // "0::/path", "4:cpu,cpuacct:/path"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers.empty()) take_least(root, group, quota_v2, &least);
    else if (("," + controllers + ",").find(",cpu,") != std::string::npos)
      for (const std::string& mounted : {root + "/" + controllers, root + "/cpu"}) take_least(mounted, group, quota_v1, &least);
  }
  return least;
}

}  // namespace amdahl
