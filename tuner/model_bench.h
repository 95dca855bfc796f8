#pragma once
// Runs whole plans in worker processes: profile in place, pairs for the end-to-end gate, outputs against float64.
//
// Constants lie once in a memory file that all workers map, so that no start of a worker copies a model's weights and
// nothing is written to disk.

#include <map>
#include <memory>
#include <string>

#include "tuner/laboratory.h"
#include "tuner/window_bench.h"

namespace amdahl {

// Constants of any number of plans of one graph: pieces that two plans share are stored once.
class BlobFile {
 public:
  BlobFile();
  ~BlobFile();
  BlobFile(const BlobFile&) = delete;
  // Stores what is new and points the program's constants into the file.
  void adopt(const Graph& graph, Program& program, const Blob& blob);
  int fd() const { return fd_; }
  size_t bytes() const { return bytes_; }

 private:
  int fd_ = -1;
  size_t bytes_ = 0;
  std::map<const std::byte*, int64_t> by_address_;  // the graph's own tensors live as long as it does
  std::map<std::string, int64_t> by_content_;       // reformatted copies
};

class ModelBench {
 public:
  // `ceilings` are measured at the first profile unless given.
  ModelBench(const Graph& graph, Builder& builder, const BenchOptions& options, std::string cache_dir);
  Profile profile(const Plan& plan);
  Paired pair(const Plan& before, const Plan& after, Random& random);
  ModelCheck check(const Plan& plan);
  const Ceilings& ceilings();

 private:
  Subject subject_of(const Plan& plan);
  Arm arm_of(const Subject& subject) const;
  Drive drive(const Program& program) const;
  const std::map<ValueId, std::vector<double>>& reference();

  const Graph& graph_;
  Builder& builder_;
  BenchOptions options_;
  std::string cache_dir_;
  BlobFile blob_;
  std::unique_ptr<Ceilings> ceilings_;
  std::map<ValueId, std::vector<double>> reference_;  // float outputs of the model in float64
};

}  // namespace amdahl
