#include "profiler/processor_load.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

namespace amdahl {
namespace {

constexpr double kTick = 0.01;  // seconds, on every Linux there is

double seconds_of(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

double own_seconds() {
  double sum = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    sum += seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  }
  return sum;
}

ProcessorTicks ticks_now() {
  cpu_set_t mine;
  const bool known = sched_getaffinity(0, sizeof mine, &mine) == 0;
  std::ifstream file("/proc/stat");
  std::stringstream stat;
  stat << file.rdbuf();
  return processor_ticks(stat.str(), [&](int cpu) { return !known || (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &mine)); });
}

}  // namespace

ProcessorTicks processor_ticks(const std::string& stat, const std::function<bool(int)>& usable) {
  ProcessorTicks sum;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    int cpu = 0;
    int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
    std::istringstream fields(line);
    std::string name;
    fields >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> steal;
    if (name.size() < 4 || name.compare(0, 3, "cpu") != 0 || !std::isdigit(static_cast<unsigned char>(name[3]))) continue;
    cpu = std::stoi(name.substr(3));
    if (!usable(cpu)) continue;
    sum.idle += idle + waiting;
    sum.all += user + nice + system + idle + waiting + irq + softirq + steal;
  }
  return sum;
}

double others_share(const ProcessorTicks& begin, const ProcessorTicks& end, double own_seconds) {
  const auto all = static_cast<double>(end.all - begin.all), busy = all - static_cast<double>(end.idle - begin.idle);
  if (all < 5) return 0;
  return std::clamp((busy - own_seconds / kTick) / all, 0.0, 1.0);
}

OthersLoad::OthersLoad() : begin_(ticks_now()), own_begin_(own_seconds()) {}

double OthersLoad::share() const { return others_share(begin_, ticks_now(), own_seconds() - own_begin_); }

}  // namespace amdahl
