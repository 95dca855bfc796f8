#include "bench/kernels/peer_arm.h"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "graph/onnx/tensor_io.h"

namespace amdahl {
namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) { return 1e3 * std::chrono::duration<double>(Clock::now() - start).count(); }

double ms_of(const Run& run) {
  const auto start = Clock::now();
  run();
  return ms_since(start);
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// Whoever started them: OpenMP or a library's own pool.
void pin_threads(const std::vector<int>& cpus) {
  std::vector<int> ids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) ids.push_back(std::stoi(task.path().filename()));
  std::ranges::sort(ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus[i % cpus.size()], &one);
    sched_setaffinity(ids[i], sizeof one, &one);
  }
}

// Candidates take turns, so that none gets the machine's good moments alone.
const Run& fastest(const std::vector<Run>& candidates) {
  std::vector<double> least(candidates.size(), std::numeric_limits<double>::infinity());
  for (int turn = 0; turn < 7 && candidates.size() > 1; ++turn)
    for (size_t i = 0; i < candidates.size(); ++i) {
      candidates[i]();  // the other one's traces in the caches are not its own
      least[i] = std::min(least[i], ms_of(candidates[i]));
    }
  return candidates[static_cast<size_t>(std::ranges::min_element(least) - least.begin())];
}

Tensor tensor_of(const Operand& operand) {
  std::byte* writable = nullptr;
  Tensor tensor = Tensor::allocate(DType::kF32, operand.shape, &writable);
  std::memcpy(writable, operand.data.get(), tensor.bytes());
  return tensor;
}

void serve(const Run& run, const Operand& output) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word, argument;
    words >> word >> argument;
    if (word == "run") {
      std::string times = "times";
      for (int n = std::stoi(argument); n > 0; --n) times += fmt::format(" {:.4f}", ms_of(run));
      std::cout << times << std::endl;
    } else if (word == "save") {
      save_npy(tensor_of(output), argument + "/0.npy");
      std::cout << "saved" << std::endl;
    } else if (word == "quit") {
      return;
    }
  }
}

}  // namespace

int peer_main(int argc, char** argv, const std::function<std::vector<Run>(const Operands&, int threads)>& prepare) try {
  const auto start = Clock::now();
  if (argc != 4) throw Error(ExitCode::kUsage, fmt::format("usage: {} MODEL.onnx INPUT_DIR THREADS", argv[0]));
  const int threads = std::stoi(argv[3]);
  omp_set_num_threads(threads);
  const std::vector<int> cpus = allowed_cpus();
  const Operands operands = read_operands(argv[1], argv[2]);
  const std::vector<Run> candidates = prepare(operands, threads);
  for (const Run& candidate : candidates) candidate();
  pin_threads(cpus);
  const Run& run = fastest(candidates);
  std::cout << fmt::format("ready {:.0f}", ms_since(start)) << std::endl;
  serve(run, operands.output);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}

}  // namespace amdahl
