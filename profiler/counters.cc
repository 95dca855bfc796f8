#include "profiler/counters.h"

#include <fmt/format.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace amdahl {
namespace {

struct Event {
  const char* name;
  const char* pfm;
};
// One group: counted over the same instants, so that ratios (instructions a cycle, misses a reference) are meaningful.
constexpr Event kHardware[] = {
    {"cycles", "PERF_COUNT_HW_CPU_CYCLES"},         {"instructions", "PERF_COUNT_HW_INSTRUCTIONS"},   {"cache references", "PERF_COUNT_HW_CACHE_REFERENCES"},
    {"cache misses", "PERF_COUNT_HW_CACHE_MISSES"}, {"branch misses", "PERF_COUNT_HW_BRANCH_MISSES"},
};

std::vector<std::string> hardware_events() {
  std::vector<std::string> names;
  for (const Event& e : kHardware) names.push_back(e.pfm);
  return names;
}

std::string explain(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "the kernel offers no hardware counters here (usual in a virtual machine)";
    case EACCES:
    case EPERM: {
      int level = -99;
      std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
      return fmt::format("not permitted: kernel.perf_event_paranoid is {}; `sysctl kernel.perf_event_paranoid=1` allows it", level);
    }
    case ENOSYS: return "this kernel has no perf_event_open";
    default: return fmt::format("perf_event_open: {}", std::strerror(error));
  }
}

class KernelCounters : public CounterSource {
 public:
  ~KernelCounters() override { close_all(); }

  std::string open(const std::vector<std::string>& events) override {
    close_all();
    static const int ready = pfm_initialize();
    if (ready != PFM_SUCCESS) return fmt::format("libpfm4: {}", pfm_strerror(ready));
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      const pid_t thread = std::stoi(entry.path().filename());
      std::vector<int> group;
      for (const std::string& name : events) {
        perf_event_attr attr{};
        attr.size = sizeof attr;
        pfm_perf_encode_arg_t arg{};
        arg.size = sizeof arg;
        arg.attr = &attr;
        if (const int e = pfm_get_os_event_encoding(name.c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &arg); e != PFM_SUCCESS)
          return fmt::format("libpfm4 does not know {} here: {}", name, pfm_strerror(e));
        attr.disabled = group.empty();
        attr.exclude_kernel = attr.exclude_hv = 1;
        attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        const int leader = group.empty() ? -1 : group.front();
        const int fd = static_cast<int>(syscall(SYS_perf_event_open, &attr, thread, -1, leader, PERF_FLAG_FD_CLOEXEC));
        if (fd < 0) {
          const int error = errno;
          for (int open : group) ::close(open);
          if (error == ESRCH) {
            group.clear();
            break;
          }  // the thread ended meanwhile
          return explain(error);
        }
        group.push_back(fd);
      }
      if (!group.empty()) groups_.push_back(std::move(group));
    }
    return "";
  }

  void start() override {
    for (const auto& group : groups_) {
      ioctl(group.front(), PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
      ioctl(group.front(), PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    }
  }

  std::vector<Raw> stop() override {
    std::vector<Raw> raws;
    for (const auto& group : groups_) ioctl(group.front(), PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    for (const auto& group : groups_) {
      std::vector<uint64_t> words(3 + group.size());  // count, enabled, running, values
      if (read(group.front(), words.data(), words.size() * 8) < 24) continue;
      raws.push_back({{words.begin() + 3, words.end()}, words[1], words[2]});
    }
    return raws;
  }

 private:
  void close_all() {
    for (const auto& group : groups_)
      for (int fd : group) ::close(fd);
    groups_.clear();
  }
  std::vector<std::vector<int>> groups_;
};

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

}  // namespace

std::unique_ptr<CounterSource> kernel_counters() { return std::make_unique<KernelCounters>(); }

const CounterReading::Value* CounterReading::find(const std::string& name) const {
  for (const Value& value : values)
    if (value.name == name) return &value;
  return nullptr;
}

PerfCounters::PerfCounters(std::unique_ptr<CounterSource> source) : source_(std::move(source)) { why_ = source_->open(hardware_events()); }

void PerfCounters::start() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  processor_seconds_ = seconds(use.ru_utime) + seconds(use.ru_stime);
  faults_ = use.ru_minflt + use.ru_majflt;
  switches_ = use.ru_nvcsw + use.ru_nivcsw;
  if (!hardware()) return;
  why_ = source_->open(hardware_events());  // again: threads may have come since
  if (hardware()) source_->start();
}

CounterReading PerfCounters::stop() {
  CounterReading reading;
  std::vector<CounterSource::Raw> raws;
  if (hardware()) raws = source_->stop();
  rusage use{};
  getrusage(RUSAGE_SELF, &use);

  std::vector<double> sums(std::size(kHardware));
  bool counted = false;
  for (const CounterSource::Raw& raw : raws) {
    if (raw.enabled_ns == 0) continue;  // the thread slept
    if (raw.running_ns == 0) {          // waited for a counter all the time: nothing to extrapolate from
      reading.coverage = 0;
      continue;
    }
    const double factor = static_cast<double>(raw.enabled_ns) / static_cast<double>(raw.running_ns);
    reading.coverage = std::min(reading.coverage, 1 / factor);
    for (size_t i = 0; i < sums.size() && i < raw.values.size(); ++i) sums[i] += static_cast<double>(raw.values[i]) * factor;
    counted = true;
  }
  reading.hardware = counted;
  if (counted)
    for (size_t i = 0; i < sums.size(); ++i) reading.values.push_back({kHardware[i].name, sums[i], reading.coverage < 0.999});
  else reading.why = hardware() ? "the counters were taken by another user all the time" : why_;
  if (!counted) reading.coverage = 1;

  reading.values.push_back({"processor seconds", seconds(use.ru_utime) + seconds(use.ru_stime) - processor_seconds_, false});
  reading.values.push_back({"page faults", static_cast<double>(use.ru_minflt + use.ru_majflt - faults_), false});
  reading.values.push_back({"context switches", static_cast<double>(use.ru_nvcsw + use.ru_nivcsw - switches_), false});
  return reading;
}

void to_json(nlohmann::json& j, const CounterReading& reading) {
  j = {{"hardware", reading.hardware}, {"coverage", reading.coverage}, {"why", reading.why}};
  for (const CounterReading::Value& v : reading.values) j["values"][v.name] = {{"count", v.count}, {"scaled", v.scaled}};
}

}  // namespace amdahl
