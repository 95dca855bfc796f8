#include "tuner/measurement/others_time.h"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

namespace amdahl {
namespace {

constexpr double kClockTick = 0.01;  // USER_HZ is 100 on every architecture of ours

double cpu_seconds(clockid_t clock) {
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return 0;
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<std::string> own_processors() {
  std::vector<std::string> names;
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return names;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mine)) names.push_back(fmt::format("cpu{}", cpu));
  return names;
}

}  // namespace

OthersTime::OthersTime(std::vector<pid_t> mine) : mine_(std::move(mine)), processors_(own_processors()), start_(read()) {}

OthersTime::Reading OthersTime::read() const {
  Reading r;
  std::ifstream stat("/proc/stat");
  for (std::string line; std::getline(stat, line) && line.starts_with("cpu");) {
    std::istringstream fields(line);
    std::string name;
    int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
    fields >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
    if (std::find(processors_.begin(), processors_.end(), name) == processors_.end()) continue;
    r.busy_ticks += user + nice + system + interrupts + soft_interrupts;
    r.stolen_ticks += stolen;
  }
  r.own_seconds = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (pid_t pid : mine_)
    if (clockid_t clock; clock_getcpuclockid(pid, &clock) == 0) r.own_seconds += cpu_seconds(clock);
  r.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return r;
}

std::string OthersTime::disturbance() const {
  const Reading now = read();
  return disturbance_of(now.busy_ticks - start_.busy_ticks, now.stolen_ticks - start_.stolen_ticks, now.own_seconds - start_.own_seconds,
                        now.wall_seconds - start_.wall_seconds, processors_.size());
}

std::string disturbance_of(int64_t busy_ticks, int64_t stolen_ticks, double own_seconds, double wall_seconds, size_t processors) {
  const double all = wall_seconds * static_cast<double>(processors), stolen = kClockTick * static_cast<double>(stolen_ticks);
  if (stolen > 0.02 * all + 1.1 * kClockTick) return fmt::format("the host took {:.0f} ms of {:.0f}", 1e3 * stolen, 1e3 * all);
  const double others = kClockTick * static_cast<double>(busy_ticks) - own_seconds;
  const double chance = 3 * kClockTick * std::sqrt(std::max(1.0, all / kClockTick) / 4);
  if (others > 0.02 * all + chance) return fmt::format("other programs took {:.0f} ms of {:.0f}", 1e3 * others, 1e3 * all);
  return "";
}

}  // namespace amdahl
