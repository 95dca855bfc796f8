#pragma once
// This machine's noise as the decision rule sees it: pairs of fresh processes of the same code (A/A), and of placebo builds of
// it, on three kernels of ours: a matrix product that computes (about 1 ms), a GELU that moves memory, and a layer
// normalisation. Each stands for a family of kernels, for which it sets delta and the number of builds, and tells the smallest
// gain that can be proven here and what a proof costs.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/measurement/proof_rules.h"
#include "tuner/trials/window_trials.h"

namespace amdahl {

struct KernelNoise {
  NoiseFamily family = NoiseFamily::kProducts;  // what it stands for
  std::string name;
  double seconds = 0;      // a call
  double process_sd = 0;   // of a pair of processes, robust
  double layout_sd = 0;    // of a build, beyond that
  double layout_high = 0;  // as it may be, one standard error up
  int builds = 0, pairs = 0;
  double pair_seconds = 0;  // wall clock, starting the processes included

  // What follows for its family.
  double delta = 0.01;
  int proof_builds = 8;
  double smallest_gain = 0;                   // log ratio that passes both stages with 95%
  double hopeful_gain = 0;                    // with 20%: promises below it are not worth a proof
  double proof_pairs = 0, proof_seconds = 0;  // of the smallest gain, both stages
};

struct MachineNoise {
  std::string machine;     // DeviceInfo::fingerprint() of the device that kernels ran on
  std::string processors;  // Processors::text()
  int threads = 1;
  int64_t measured_at = 0;  // Unix time
  double took_seconds = 0;
  bool quick = false;  // the short form: wider, so the rule is set more carefully
  std::vector<KernelNoise> kernels;
  int pairs_dropped = 0;     // stolen time, preemption
  double build_seconds = 0;  // a placebo build of one kernel

  // More than half of the pairs were disturbed: what was seen is how busy the machine was. It is measured again when there is time for it.
  bool while_busy() const;
};

// The rules that this noise asks for; what noise does not decide stays as `rules` has it. A noisy minute must not close a
// session to real gains: no family's hope lies above 3%.
void set_rules_for(const MachineNoise& noise, ProofRules& rules);

// delta and K for a layout deviation of a build.
void set_rule_for(double layout_sd, DecisionRule& rule);

struct NoiseOptions {
  bool quick = false;  // at most 15 seconds instead of 60
  int threads = 1;
};
using NoiseProgress = std::function<void(double fraction, const std::string& what)>;

// Throws Error when nothing can be compiled or run, Stopped on Ctrl-C.
MachineNoise measure_machine_noise(std::shared_ptr<const Toolchain> toolchain, const NoiseOptions& options, const TrialOptions& bench,
                                   const NoiseProgress& progress = {});

// From `cache_dir`/noise-<hash>-<threads>.json; nothing when there is none of this device and these processors.
std::optional<MachineNoise> cached_machine_noise(const std::string& cache_dir, const DeviceInfo& device, int threads);
// One that cannot be written is not an error: it is measured again.
void cache_machine_noise(const MachineNoise& noise, const std::string& cache_dir);

void to_json(Json& j, const MachineNoise& n);
void from_json(const Json& j, MachineNoise& n);

}  // namespace amdahl
