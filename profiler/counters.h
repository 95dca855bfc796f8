#pragma once
// Hardware counters around a piece of work: cycles, instructions, cache references and misses, branch misses, of all
// threads of this process. Where the kernel offers none (virtual machines often), the counts that it keeps for every
// process (processor time, page faults, context switches) and one line saying why. A PerfCounters is always valid:
// measuring code needs no branch.

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace amdahl {

// Where raw counts come from: the kernel, or a test.
class CounterSource {
 public:
  struct Raw {                     // one thread's group
    std::vector<uint64_t> values;  // in the order of the events
    uint64_t enabled_ns = 0;       // time the group was to count …
    uint64_t running_ns = 0;       // … and did: less when counters are shared with others (multiplexing)
  };
  virtual ~CounterSource() = default;
  // Opens the events (libpfm4 names) as one group on every thread there is. Returns "" or why not.
  virtual std::string open(const std::vector<std::string>& events) = 0;
  virtual void start() = 0;
  virtual std::vector<Raw> stop() = 0;
};
std::unique_ptr<CounterSource> kernel_counters();

struct CounterReading {
  struct Value {
    std::string name;  // "cycles"
    double count = 0;
    bool scaled = false;  // extrapolated: the counter ran only `coverage` of the time
  };
  bool hardware = false;
  double coverage = 1;  // least share of the time that a group really counted
  std::string why;      // why not hardware; empty when it is
  std::vector<Value> values;

  const Value* find(const std::string& name) const;
};

class PerfCounters {
 public:
  explicit PerfCounters(std::unique_ptr<CounterSource> source = kernel_counters());
  bool hardware() const { return why_.empty(); }
  const std::string& why() const { return why_; }
  // Counts the threads that exist now: call after the first parallel run, which creates them.
  void start();
  CounterReading stop();

 private:
  std::unique_ptr<CounterSource> source_;
  std::string why_;
  double processor_seconds_ = 0;
  int64_t faults_ = 0, switches_ = 0;
};

void to_json(nlohmann::json& j, const CounterReading& reading);

}  // namespace amdahl
