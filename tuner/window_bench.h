#pragma once
// Judges and times challengers of one window at a time, in worker processes. Keeps what challengers of the same window
// share: the judge, expected outputs, and a living worker with the incumbent to race against.

#include <map>
#include <memory>

#include "tuner/laboratory.h"

namespace amdahl {

struct BenchOptions {
  WorkerOptions worker;
  uint64_t seed = 1;                        // of the session: inputs, weights, poison
  size_t reference_bytes = size_t{512} << 20;
  double race_seconds = 0.12;               // a race; clear losers run a quarter of it
  double loser_margin = 0.05;               // log ratio by which a first heat drops a candidate
  double pair_seconds = 0.25;               // timed part of a pair of processes
};

class WindowBench {
 public:
  WindowBench(const Graph& graph, Builder& builder, const BenchOptions& options);
  std::string enter(const WindowTask& task);
  Screened screen(const std::vector<Step>& challenger, const Built& built, double bar);
  Paired pair(const std::vector<Step>& challenger, const Built& built, Random& random);

 private:
  Subject subject_of(const WindowIo& io, const std::vector<Step>& steps, const std::vector<std::string>& libraries) const;
  const Judge& judge_for(const WindowTask& task);
  ExpectedOf expected_of(const WindowIo& io, const Program& program, const std::string& signature);
  Arm arm_of(const Subject& subject) const;
  Drive drive() const;
  void restart_incumbent();
  double ready_to_race(WorkerProcess& worker, const Subject& subject);
  Timing race(WorkerProcess& worker, double challenger_seconds, double budget_seconds);

  const Graph& graph_;
  Builder& builder_;
  BenchOptions options_;
  Plan starter_;
  ReferenceCache cache_;
  std::map<std::string, Judge> judges_;  // by signature and weights

  WindowTask task_;
  const Judge* judge_ = nullptr;
  Subject incumbent_;
  double incumbent_seconds_ = 0;
  std::unique_ptr<WorkerProcess> incumbent_worker_;
  // Outputs after timed calls, as a hash: what a fresh process must give too.
  std::map<std::string, std::string> fingerprints_;  // by Built::code
  uint64_t races_ = 0;
};

}  // namespace amdahl
