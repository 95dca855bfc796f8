// amdahl doctor: what this machine is and can do, how noisy it is, what is missing and how to get it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/counted.h"
#include "base/cuda/cards.h"
#include "base/cuda/driver.h"
#include "base/cuda/nvrtc.h"
#include "base/error.h"
#include "base/machine.h"
#include "base/process_limits.h"
#include "base/processors.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/find_noise.h"
#include "cli/model_options.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "profiler/core_distance.h"
#include "profiler/counters.h"
#include "profiler/cpu_probe.h"
#include "profiler/print_profile.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/measurement/rule_power.h"
#include "tuner/worker/spawn_worker.h"

namespace amdahl {
namespace {

void declare(Options& options) {
  options.named.add_options()                                                    //
      ("fresh", po::bool_switch(), "measure everything again (about a minute)")  //
      ("noise", po::bool_switch(), "measure the noise of proofs again, the long way (a minute)");
}

struct Arguments {
  bool fresh = false, noise = false;
};

Arguments read(const po::variables_map& values) { return {values["fresh"].as<bool>(), values["noise"].as<bool>()}; }

// One thing that would make this machine better to tune on.
struct Advice {
  std::string missing, get;
};

// "" when there is none.
std::string find_compilers(const GlobalOptions& global, std::vector<Advice>& advice) {
  try {
    const CpuToolchain toolchain(global.cache_dir);
    if (const std::string weakness = CpuToolchain::weakness(); !weakness.empty())
      advice.push_back({weakness, "tune only models and kernels that you trust, or boot such a kernel"});
    return toolchain.description();
  } catch (const Error& error) {
    if (error.code() == ExitCode::kNoCompiler) advice.push_back({"a C++ compiler; nothing can be tuned without one", "apt-get install g++"});
    else advice.push_back({error.what(), "--cache DIR"});
  }
  return "";
}

std::string vector_features(const DeviceInfo& machine) {
  std::vector<std::string> have;
  for (const char* feature : {"sse4_2", "avx2", "fma", "f16c", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni", "amx_tile", "amx_bf16",
                              "amx_int8", "asimd", "asimddp", "bf16", "sve"})
    if (machine.has(feature)) have.emplace_back(feature);
  return fmt::format("{}", fmt::join(have, " "));
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

void look_at_system(std::vector<Advice>& advice) {
  if (pid_wall() == PidWall::kNone)
    advice.push_back({"a PID namespace for workers: a hostile kernel could name threads of other processes (what it does to them is looked for)",
                      "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; a container: --cap-add SYS_ADMIN)"});
  const std::string huge = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  if (huge.find("[never]") != std::string::npos)
    advice.push_back({"huge pages: timings differ more between processes", "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)"});
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor == "powersave" || governor == "ondemand")
    advice.push_back({fmt::format("a steady clock: the frequency governor is '{}'", governor), "cpupower frequency-set -g performance (as root)"});
}

// The noise of proofs, and what the decision rule makes of it.
std::optional<MachineNoise> noise_of(const GlobalOptions& global, bool fresh, std::vector<Advice>& advice) {
  try {
    return find_machine_noise(global, fresh ? NoiseForm::kLong : NoiseForm::kCachedOrShort);
  } catch (const Error& error) {
    if (error.code() == ExitCode::kInterrupted) throw;
    advice.push_back({std::string("the noise of proofs: ") + error.what(), "`amdahl doctor --noise`, when that is mended"});
    return std::nullopt;
  }
}

// What follows for the kernels that this one stands for.
void print_rule(const KernelNoise& k) {
  const double sure = 100 * std::expm1(k.smallest_gain), hopeful = 100 * std::expm1(k.hopeful_gain);
  fmt::print("             {:<9} delta {:.1f}%, K {}; ", to_string(k.family), 100 * k.delta, k.proof_builds);
  if (k.smallest_gain >= kLargestGain) fmt::print("no gain below {:.0f}% is sure to be proven; P({:.1f}%) 0.2\n", sure, hopeful);
  else fmt::print("P({:.1f}%) 0.95, in {:.0f} pairs and {:.0f} s; P({:.1f}%) 0.2\n", sure, k.proof_pairs, k.proof_seconds, hopeful);
}

void print_noise(const MachineNoise& n) {
  fmt::print("proofs     pairs of fresh processes of equal code, {}, measured {} ago in {:.0f} s{}\n", counted(n.threads, "thread"), age_text(n.measured_at),
             n.took_seconds, n.quick ? " (short form; --noise takes a minute)" : "");
  for (const KernelNoise& k : n.kernels) {
    fmt::print("           {:<15} {:>8}: {:.2f}% between processes, {:.2f}% between builds (up to {:.2f}%), {}, {:.2f} s each\n", k.name, time_text(k.seconds),
               100 * k.process_sd, 100 * k.layout_sd, 100 * k.layout_high, counted(k.pairs, "pair"), k.pair_seconds);
    print_rule(k);
  }
  if (n.pairs_dropped > 0) fmt::print("           {} disturbed by others on this machine\n", counted(n.pairs_dropped, "pair was", "pairs were"));
  fmt::print("           delta: what a keep must beat; K: builds of each arm that its pairs are drawn from; P(g): chance that a gain g is kept\n\n");
}

int online() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

// What was found out about this machine.
struct Findings {
  std::string compilers;
  PerfCounters counters;
  Ceilings ceilings;
  double distance = 0;  // core_distance_seconds()
  std::optional<MachineNoise> noise;
  std::vector<DeviceInfo> cards;  // of NVIDIA
  std::string card_compiler;
};

void look_at_cards(Findings& found, std::vector<Advice>& advice) {
  if (!cuda::why_no_driver().empty()) return;  // most machines have no card, and miss nothing
  try {
    found.cards = cuda::cards();
    found.card_compiler = cuda::Nvrtc().version();
  } catch (const Error& error) {
    if (!found.cards.empty()) advice.push_back({error.what(), "apt-get install nvidia-cuda-toolkit"});
  }
}

void look_at_machine(const Arguments& arguments, const GlobalOptions& global, Findings& found, std::vector<Advice>& advice) {
  found.compilers = find_compilers(global, advice);
  look_at_cards(found, advice);
  require_threads(threads_needed(global));
  look_at_system(advice);
  {
    Progress progress("measuring what this machine can do", global.progress());
    found.ceilings = cached_ceilings(cpu_probe(), global.cache_dir, arguments.fresh, [&](double, const std::string& what) { progress.update(0, 0, what); });
  }
  found.distance = core_distance_seconds();
  if (!found.compilers.empty()) found.noise = noise_of(global, arguments.fresh || arguments.noise, advice);
  const std::optional<MachineNoise>& noise = found.noise;
  if (noise && std::any_of(noise->kernels.begin(), noise->kernels.end(), [](const KernelNoise& k) { return k.process_sd > 0.03; }))
    advice.push_back({"a quiet machine: pairs of equal processes differ by more than 3%, so only large gains can be proven",
                      "stop other programs, then `amdahl doctor --noise`"});
  if (found.ceilings.while_busy())
    advice.push_back({fmt::format("a quiet machine: {:.0f}% of the measurements were held up by other programs", found.ceilings.busy * 100),
                      "stop them, then `amdahl doctor --fresh`"});
}

void print_as_json(const Findings& found, const std::vector<Advice>& advice, const GlobalOptions& global) {
  const DeviceInfo& machine = this_machine();
  nlohmann::json j = {{"cpu", machine.name},
                      {"cores", machine.units},
                      {"processors", processors().text()},
                      {"isa", machine.features},
                      {"l1d_bytes", machine.l1d_bytes},
                      {"l2_bytes", machine.l2_bytes},
                      {"l3_bytes", machine.l3_bytes},
                      {"memory_bytes", machine.memory_bytes},
                      {"fingerprint", machine.fingerprint()},
                      {"compilers", found.compilers},
                      {"cache", global.cache_dir},
                      {"counters", {{"hardware", found.counters.hardware()}, {"why", found.counters.why()}}},
                      {"ceilings", found.ceilings},
                      {"core_distance_seconds", found.distance},
                      {"advice", nlohmann::json::array()}};
  if (found.noise) j["noise"] = *found.noise;
  for (const DeviceInfo& card : found.cards)
    j["cards"].push_back(
        {{"number", card.number}, {"name", card.name}, {"architectures", card.features}, {"multiprocessors", card.units}, {"memory_bytes", card.memory_bytes}});
  for (const Advice& a : advice) j["advice"].push_back({{"missing", a.missing}, {"get", a.get}});
  print_json(j);
}

void print_machine(const DeviceInfo& machine) {
  fmt::print("machine    {}, {}\n", machine.name, counted(machine.units, "core"));
  if (processors().count < online() || processors().quota > 0)
    fmt::print("           this process may use processors {}, of {}\n", processors().text(), online());
  fmt::print("           L1 {} KiB, L2 {} KiB a core; L3 {} MiB; {:.1f} GiB of memory\n", machine.l1d_bytes >> 10, machine.l2_bytes >> 10,
             machine.l3_bytes >> 20, static_cast<double>(machine.memory_bytes) / (1 << 30));
  fmt::print("           {}\n", vector_features(machine));
}

void print_as_text(const Findings& found, const std::vector<Advice>& advice, const GlobalOptions& global) {
  const std::string& compilers = found.compilers;
  const PerfCounters& counters = found.counters;
  const Ceilings& ceilings = found.ceilings;
  const double distance = found.distance;
  const std::optional<MachineNoise>& noise = found.noise;
  print_machine(this_machine());
  for (const DeviceInfo& card : found.cards)
    fmt::print("card       cuda:{}: {}, {}, {}, {:.0f} GiB, L2 {} MiB\n", card.number, card.name, counted(card.units, card.unit), cuda::architecture_of(card),
               static_cast<double>(card.memory_bytes) / (1 << 30), card.l2_bytes >> 20);
  if (!found.cards.empty()) fmt::print("           {}; `amdahl tune MODEL --device cuda` works on it\n", found.card_compiler);
  fmt::print("compilers  {}\n", compilers.empty() ? "none" : compilers);
  fmt::print("cache      {}\n", global.cache_dir);
  fmt::print("counters   {}\n", counters.hardware() ? "cycles, instructions, cache and branch misses" : "software only: " + counters.why());
  fmt::print("noise      equal code differs by {:.2f}% from one millisecond to the next (robust sd)\n", ceilings.noise * 100);
  fmt::print("           a parallel region costs {}\n", time_text(ceilings.barrier_seconds));
  if (distance > 0) fmt::print("           a cache line takes {:.0f} ns from the first core to the last, just now\n", distance * 1e9);
  fmt::print("\n{}", ceilings_table(ceilings));
  fmt::print("measured {} ago in {:.1f} s\n\n", age_text(ceilings.measured_at), ceilings.took_seconds);
  if (noise) print_noise(*noise);
  if (advice.empty()) fmt::print("nothing is missing\n");
  for (const Advice& a : advice) fmt::print("missing: {}\n   to get it: {}\n", a.missing, a.get);
}

int run(const Arguments& arguments, const GlobalOptions& global) {
  Findings found;
  std::vector<Advice> advice;
  look_at_machine(arguments, global, found, advice);
  if (global.json) print_as_json(found, advice, global);
  else print_as_text(found, advice, global);
  return 0;
}

}  // namespace

const Command kDoctorCommand{"doctor", "[options]", "what this machine can do, its noise, what is missing and how to get it",
                             "",       declare,     [](const po::variables_map& values, const GlobalOptions& global) { return run(read(values), global); }};

}  // namespace amdahl
