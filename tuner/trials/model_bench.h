#pragma once
// Runs whole plans in worker processes: profile in place, pairs for the end-to-end gate, outputs against float64.

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "profiler/ceiling_probe.h"
#include "tuner/trials/laboratory.h"
#include "tuner/trials/window_bench.h"

namespace amdahl {

class ModelBench {
 public:
  // Ceilings are measured at the first profile, where `cache_dir` has none.
  ModelBench(const Graph& graph, Builder& builder, const BenchOptions& options, const CeilingProbe& probe, std::string cache_dir);
  Profile profile(const Plan& plan);
  Paired pair(const Plan& before, const Plan& after, Family inputs, Random& random);
  ModelCheck check(const Plan& plan, const Draw& inputs);
  const Ceilings& ceilings();

 private:
  Program program_of(const Plan& plan);
  Drive drive(const Program& program);
  const std::map<ValueId, std::vector<double>>& reference(const Draw& draw);

  const Graph& graph_;
  Builder& builder_;
  BenchOptions options_;
  const CeilingProbe& probe_;
  std::string cache_dir_;
  ConstantsFile constants_;
  Feed feed_;
  double call_seconds_ = 0;  // of the last plan that was profiled or paired
  std::unique_ptr<Ceilings> ceilings_;
  std::map<ValueId, std::vector<double>> reference_;  // float outputs of the model in float64
  std::pair<Family, uint64_t> reference_of_{};        // for these inputs: those of the last check
};

}  // namespace amdahl
