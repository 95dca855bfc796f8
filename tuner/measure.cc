#include "tuner/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <future>

#include "tuner/decision.h"
#include "tuner/reference.h"

namespace amdahl {
namespace {

// Time that the hypervisor took from all of this machine's CPUs, in ticks of 10 ms.
int64_t stolen_ticks() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  int64_t field = 0;
  stat >> cpu;
  for (int i = 0; i < 8; ++i) stat >> field;  // user nice system idle iowait irq softirq steal
  return field;
}

// The hand-over alone.
double round_trip(WorkerProcess& worker, double deadline) {
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) seconds.push_back(worker.run(0, deadline));
  return median(seconds);
}

}  // namespace

Segments plan_segments(double call_seconds, double budget_seconds, double fewest_blocks) {
  Segments s;
  call_seconds = std::max(call_seconds, 1e-7);
  s.calls = static_cast<int>(std::clamp(std::ceil(1.5e-3 / call_seconds), 1.0, 10000.0));
  s.blocks = static_cast<int>(std::clamp(budget_seconds / (4 * s.calls * call_seconds), fewest_blocks, 10.0));
  return s;
}

Timing alternate(WorkerProcess& a, WorkerProcess& b, const Segments& segments, double deadline, Random& random) {
  const double overhead_a = round_trip(a, deadline), overhead_b = round_trip(b, deadline);
  std::vector<double> times_a, times_b;
  const auto segment = [&](bool is_a) {
    WorkerProcess& w = is_a ? a : b;
    const double seconds = w.run(segments.calls, deadline) - (is_a ? overhead_a : overhead_b);
    (is_a ? times_a : times_b).push_back(std::max(seconds, 1e-9) / segments.calls);
  };
  for (int block = 0; block < segments.blocks; ++block) {
    const bool first = random.below(2) == 0;
    for (bool is_a : {first, !first, !first, first}) segment(is_a);
  }
  Timing t;
  t.seconds_a = median(times_a);
  t.seconds_b = median(times_b);
  t.log_ratio = std::log(t.seconds_a / t.seconds_b);
  return t;
}

namespace {

std::unique_ptr<WorkerProcess> spawn(const Drive& drive, Random& random) {
  WorkerOptions options = drive.worker;
  options.layout_seed = random.next();
  return std::make_unique<WorkerProcess>(options);
}

// Loading touches all memory; two calls start threads and fill caches. Seconds of the second.
double prepare(WorkerProcess& worker, const Arm& arm, const Subject& subject, const Drive& drive) {
  LoadRequest request;
  request.program = &subject.program;
  request.blob = &subject.blob;
  request.use_blob_fd = arm.use_blob_fd;
  request.instances = arm.instances;
  request.weights_seed = arm.weights_seed;
  worker.load(request, drive.load_seconds);
  worker.inputs(drive.family, drive.input_seed, drive.ranges, drive.load_seconds);
  worker.run(1, drive.call_seconds);
  return worker.run(1, drive.call_seconds);
}

const Subject& draw_build(const Arm& arm, Random& random) { return *arm.subjects[random.below(arm.subjects.size())]; }

}  // namespace

std::unique_ptr<WorkerProcess> start_arm(const Arm& arm, const Drive& drive, Random& random) {
  auto worker = spawn(drive, random);
  prepare(*worker, arm, draw_build(arm, random), drive);
  return worker;
}

PairResult measure_pair(const Arm& incumbent, const Arm& challenger, const Drive& drive, double budget_seconds,
                        Random& random, const std::function<void(WorkerProcess&)>& inspect) {
  const bool incumbent_first = random.below(2) == 0;
  std::unique_ptr<WorkerProcess> a, b;
  // Both are started by this thread (a worker dies with the thread that started it) and made ready side by side.
  if (incumbent_first) a = spawn(drive, random);
  b = spawn(drive, random);
  if (!incumbent_first) a = spawn(drive, random);
  const Subject &subject_a = draw_build(incumbent, random), &subject_b = draw_build(challenger, random);
  std::future<double> other = std::async(std::launch::async, [&] { return prepare(*a, incumbent, subject_a, drive); });
  const double call_b = prepare(*b, challenger, subject_b, drive), call_a = other.get();
  // Segments follow the mean of both, so that neither arm's speed sets the plan.
  const Segments segments = plan_segments((call_a + call_b) / 2, budget_seconds);

  const int64_t stolen_before = stolen_ticks();
  const int64_t switches_before = a->state().involuntary_switches + b->state().involuntary_switches;
  const auto start = std::chrono::steady_clock::now();
  PairResult result;
  result.timing = alternate(*a, *b, segments, drive.call_seconds * segments.calls, random);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (inspect) inspect(*b);
  const double stolen = 0.01 * static_cast<double>(stolen_ticks() - stolen_before);
  const int64_t switches = a->state().involuntary_switches + b->state().involuntary_switches - switches_before;
  const double cpus = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  // One tick of steal may be chance; 2% of the pair's CPU time is not. A thread that is put aside some 100 times a second,
  // beside the hand-overs to us (1.2 a segment, counted on 2 cores), shares its core with somebody.
  if (stolen > 0.02 * seconds * cpus + 0.011)
    result.dropped = fmt::format("the host took {:.0f} ms of {:.0f}", 1e3 * stolen, 1e3 * seconds * cpus);
  else if (static_cast<double>(switches) > 20 + 100 * seconds + 2 * 4 * segments.blocks)
    result.dropped = fmt::format("preempted {} times in {:.0f} ms", switches, 1e3 * seconds);
  return result;
}

int instances_for(const Program& program, size_t budget) {
  size_t weights = 1;
  for (const Program::Buffer& b : program.buffers)
    if (b.role == Program::Role::kConstant && b.blob_offset < 0) weights += b.bytes;
  const size_t few = weights > budget / 3 ? 1 : 3;  // small weights: other inputs in turn all the same
  return static_cast<int>(std::clamp(budget / weights, few, weights < (64u << 10) ? few : size_t{12}));
}

}  // namespace amdahl
