#include "profiler/cpu_probe.h"

#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "base/machine.h"
#include "base/processors.h"
#include "base/statistics.h"
#include "profiler/ceiling_loops.h"
#include "profiler/repetitions.h"
#include "profiler/take_cpu.h"

namespace amdahl {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Rate {
  double best = 0, spread = 0;
};

// `seconds` of equal repetitions of `amount`.
Rate rate_of(double amount, const std::vector<double>& seconds) {
  const double fast = quantile(seconds, 0.1);
  return {amount / fast, 1 - fast / median(seconds)};
}

double cpu_now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// One repetition on `threads` threads.
template <typename Body>
Timed time_region(int threads, const Body& body) {
  std::vector<double> cpu(static_cast<size_t>(threads));
  const double start = now();
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    const double begin = cpu_now();
    body(thread);
    cpu[static_cast<size_t>(thread)] = cpu_now() - begin;
  }
  return {*std::max_element(cpu.begin(), cpu.end()), now() - start};
}

// Repetitions long enough (~0.7 ms) that starting the threads is lost in them, short enough that many fit between
// interruptions.
constexpr double kRepetition = 0.7e-3;

template <typename Body>
int64_t calibrate(const Body& body) {
  for (int64_t n = 1;; n *= 2) {
    const double t = time_region(1, [&](int) { body(0, n); }).cpu;
    if (t > kRepetition / 2) return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(n) * kRepetition / t));
  }
}

// `repetitions`, and up to three times as many while they disagree, within 60 ms (on a busy machine a parallel region waits
// a scheduler's slice for its last thread). Rates are taken from processor time: the wall clock also counts the time that
// other programs had the core, which is no property of the machine. How often that happened goes to `busy`.
class Repeater {
 public:
  template <typename Body>
  std::vector<double> operator()(int threads, int repetitions, const Body& body) {
    std::vector<Timed> timed;
    const double start = now();
    for (int r = 0; r < 3 * repetitions; ++r) {
      if (r >= repetitions && rate_of(1, trusted_seconds(timed)).spread < 0.03) break;
      if (r >= 5 && now() - start > 0.06) break;
      timed.push_back(time_region(threads, [&](int thread) { body(thread, r); }));
    }
    all_.insert(all_.end(), timed.begin(), timed.end());
    return trusted_seconds(timed);
  }
  double busy() const { return share_disturbed(all_); }

 private:
  std::vector<Timed> all_;
};

std::vector<int> thread_counts(const DeviceInfo& machine) { return machine.units > 1 ? std::vector<int>{1, machine.units} : std::vector<int>{1}; }

// Memory of the streams, each thread's part first touched by itself; on huge pages where the kernel gives them, so that the
// figure is the memory's and not the page table's.
class StreamBuffer {
 public:
  explicit StreamBuffer(int64_t bytes, int threads) : bytes_(bytes) {
    void* p = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    madvise(p, static_cast<size_t>(bytes), MADV_HUGEPAGE);
    data_ = static_cast<char*>(p);
    const int64_t part = bytes / threads;
    time_region(threads, [&](int thread) { std::fill_n(data_ + thread * part, part, char{0}); });
  }
  ~StreamBuffer() { munmap(data_, static_cast<size_t>(bytes_)); }
  StreamBuffer(const StreamBuffer&) = delete;
  float* at(int64_t offset) { return reinterpret_cast<float*>(data_ + offset); }
  int64_t bytes() const { return bytes_; }

 private:
  char* data_;
  int64_t bytes_;
};

bool runs_here(const char* needs, const DeviceInfo& machine) { return !*needs || machine.has(needs); }

// One loop for each pattern, or form: the last in the list that this CPU runs. In the list's order.
template <typename Loop, typename Key>
std::vector<const Loop*> usable(const std::vector<Loop>& loops, const DeviceInfo& machine, const Key& key) {
  std::vector<const Loop*> chosen;
  for (const Loop& loop : loops) {
    if (!runs_here(loop.needs, machine)) continue;
    const auto same = std::find_if(chosen.begin(), chosen.end(), [&](const Loop* other) { return key(*other) == std::string(key(loop)); });
    if (same == chosen.end()) chosen.push_back(&loop);
    else *same = &loop;
  }
  return chosen;
}
std::vector<const StreamLoop*> usable_streams(const DeviceInfo& machine) {
  return usable(stream_loops(), machine, [](const StreamLoop& loop) { return loop.pattern; });
}

constexpr int64_t kGrain = 3 * 4096;  // a slice splits evenly into triad's three arrays and four streams

void measure_arithmetic(const DeviceInfo& machine, Repeater& repeat, Ceilings& c) {
  for (const ArithmeticLoop* loop : usable(arithmetic_loops(), machine, [](const ArithmeticLoop& row) { return row.form; })) {
    const int64_t n = calibrate([&](int, int64_t iterations) { loop->run(iterations); });
    for (int threads : thread_counts(machine)) {
      const Rate r = rate_of(loop->flops * static_cast<double>(n) * threads, repeat(threads, 20, [&](int, int) { loop->run(n); }));
      c.arithmetic.push_back({loop->form, threads, loop->fp32, r.best / 1e9, r.spread});
    }
  }
}

// A cache level: every thread passes again and again over a slice that fits this level and not the one above.
void measure_cache(const DeviceInfo& machine, MemoryLevel level, int64_t slice, StreamBuffer& buffer, Repeater& repeat, Ceilings& c) {
  slice = std::max<int64_t>(kGrain, slice / kGrain * kGrain);
  for (const StreamLoop* loop : usable_streams(machine)) {
    const auto body = [&](int thread, int64_t n) { loop->run(buffer.at(thread * slice), slice, n); };
    const int64_t n = calibrate(body);
    for (int threads : thread_counts(machine)) {
      const Rate r = rate_of(static_cast<double>(slice) * static_cast<double>(n) * threads, repeat(threads, 12, [&](int thread, int) { body(thread, n); }));
      c.bandwidth.push_back({level, loop->pattern, threads, slice * threads, r.best / 1e9, r.spread});
    }
  }
}

// Memory: windows of 48 MiB taken in turn out of a buffer four times the last cache, so that a window is cold again when its
// turn comes.
void measure_dram(const DeviceInfo& machine, StreamBuffer& buffer, Repeater& repeat, Ceilings& c) {
  const int64_t window = std::min<int64_t>(48 << 20, buffer.bytes() / 4);
  int64_t turn = 0;
  for (const StreamLoop* loop : usable_streams(machine)) {
    for (int threads : thread_counts(machine)) {
      const int64_t slice = window / threads / kGrain * kGrain;
      const int64_t windows = buffer.bytes() / (slice * threads);
      const std::vector<double> seconds =
          repeat(threads, 8, [&](int thread, int r) { loop->run(buffer.at((turn + r) % windows * slice * threads + thread * slice), slice, 1); });
      turn += static_cast<int64_t>(seconds.size());
      const Rate r = rate_of(static_cast<double>(slice) * threads, seconds);
      c.bandwidth.push_back({MemoryLevel::kDram, loop->pattern, threads, slice * threads, r.best / 1e9, r.spread});
    }
  }
}

// A against A: the same pass over half of the second-level cache in alternating segments of five calls.
double measure_noise(const DeviceInfo& machine, StreamBuffer& buffer) {
  const StreamLoop* stream = usable_streams(machine).front();
  const int64_t bytes = std::max<int64_t>(kGrain, machine.l2_bytes / 2 / kGrain * kGrain);
  const auto work = [&](int thread) { stream->run(buffer.at(thread * bytes), bytes, 10); };
  const auto segment = [&] {
    std::vector<double> calls;
    for (int i = 0; i < 5; ++i) calls.push_back(time_region(machine.units, work).wall);
    return quantile(calls, 0.5);
  };
  std::vector<double> logs;
  const double start = now();
  for (int pair = 0; pair < 60 && (pair < 10 || now() - start < 0.4); ++pair) {
    const double first = segment(), second = segment();
    logs.push_back(pair % 2 ? std::log(first / second) : std::log(second / first));
  }
  const double middle = quantile(logs, 0.5);
  for (double& d : logs) d = std::abs(d - middle);
  return 1.4826 * quantile(logs, 0.5);
}

class CpuProbe : public CeilingProbe {
 public:
  const DeviceInfo& device() const override { return this_machine(); }
  std::string state() const override { return processors().text(); }
  Ceilings measure(const CeilingsProgress& progress) const override;
  double share_of_peak(const Ceilings& ceilings, int threads) const override;
};

double CpuProbe::share_of_peak(const Ceilings& ceilings, int threads) const {
  const DeviceInfo& machine = device();
  const ArithmeticLoop* widest = nullptr;
  for (const ArithmeticLoop* loop : usable(arithmetic_loops(), machine, [](const ArithmeticLoop& row) { return row.form; }))
    if (loop->fp32) widest = loop;
  const double peak = ceilings.peak_gflops(threads) * 1e9;
  if (!widest || peak <= 0) return 1;
  const auto iterations = static_cast<int64_t>(kRepetition * peak / threads / widest->flops) + 1;
  constexpr int kRounds = 4;
  // Threads of its own: OpenMP's go on spinning for some 2 ms, in the way of whoever is timed next. The first repetition is not counted:
  // a worker's threads may still spin, too.
  std::vector<std::vector<Timed>> timed(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      take_cpu(thread, threads);
      widest->run(iterations);
      for (int r = 0; r < kRounds; ++r) {
        const double start = now(), begin = cpu_now();
        widest->run(iterations);
        timed[static_cast<size_t>(thread)].push_back({cpu_now() - begin, now() - start});
      }
    });
  for (std::thread& t : running) t.join();
  // By processor time: a slice that another program got is no slowness of the core, and the steps of a profile, medians over many runs, do not show
  // it. By the wall clock a machine in use looked ten times as slow as its own steps, which then stood below their floors.
  double slowest = 0;
  for (const std::vector<Timed>& of_thread : timed) slowest = std::max(slowest, quantile(trusted_seconds(of_thread), 0.5));
  return std::min(1.0, static_cast<double>(iterations) * widest->flops * threads / slowest / peak);
}

Ceilings CpuProbe::measure(const CeilingsProgress& progress) const {
  const DeviceInfo& machine = device();
  const double start = now();
  const auto say = [&](double fraction, const char* what) {
    if (progress) progress(fraction, what);
  };
  Ceilings c;
  c.machine = machine.fingerprint();
  c.processors = processors().text();
  c.l1d_bytes = machine.l1d_bytes;
  c.l2_bytes = machine.l2_bytes;
  c.l3_bytes = machine.l3_bytes;

  say(0.0, "arithmetic");
  Repeater repeat;
  measure_arithmetic(machine, repeat, c);
  say(0.3, "preparing memory");
  const int64_t four_caches = std::min<int64_t>({4 * machine.l3_bytes, machine.memory_bytes / 8, int64_t{768} << 20});
  const int64_t l3_slice = std::max(2 * machine.l2_bytes, machine.l3_bytes / 8 / machine.units);
  StreamBuffer buffer(std::max({four_caches, l3_slice * machine.units, int64_t{16} << 20}), machine.units);
  say(0.5, "cache bandwidth");
  measure_cache(machine, MemoryLevel::kL1, machine.l1d_bytes * 3 / 4, buffer, repeat, c);
  measure_cache(machine, MemoryLevel::kL2, machine.l2_bytes / 2, buffer, repeat, c);
  measure_cache(machine, MemoryLevel::kL3, l3_slice, buffer, repeat, c);
  say(0.7, "memory bandwidth");
  measure_dram(machine, buffer, repeat, c);
  say(0.9, "noise");
  c.noise = measure_noise(machine, buffer);
  std::vector<double> empty;
  for (int i = 0; i < 30; ++i) empty.push_back(time_region(machine.units, [](int) {}).wall);
  c.barrier_seconds = quantile(empty, 0.1);
  c.busy = repeat.busy();
  c.measured_at = static_cast<int64_t>(std::time(nullptr));
  c.took_seconds = now() - start;
  say(1.0, "done");
  return c;
}

}  // namespace

const CeilingProbe& cpu_probe() {
  static const CpuProbe probe;
  return probe;
}

}  // namespace amdahl
