#pragma once
// A program made ready to be tried: buffers between guards, inputs and weights from seeds, and as many instances with
// weights of their own as it takes for weights to come from memory as they do in the model.
//
// Lives in the worker. Knows nothing of expected outputs.

#include <memory>
#include <vector>

#include "plan/executor.h"
#include "tuner/guarded_memory.h"
#include "tuner/inputs.h"

namespace amdahl {

struct RigOptions {
  Layout layout = Layout::kModel;
  int instances = 1;          // run in turn; each reads its own copy of the weights and its own inputs
  uint64_t weights_seed = 0;
  bool ternary_weights = false;
};

class Rig {
 public:
  // Loads the libraries and packs constants. Throws what Executor and GuardedMemory throw.
  Rig(const Program& program, const std::byte* blob, const RigOptions& options);
  ~Rig();

  // Instance i gets inputs of seed + i. `ranges` by input number, for integer inputs.
  void fill_inputs(Family family, uint64_t seed, const std::vector<InputRange>& ranges);
  void poison_outputs(uint64_t seed);
  // Calls in turn over the instances, continuing where the last run stopped.
  void run(int calls);
  // One call of instance `i`.
  void run_instance(int i);
  void run_timed(std::vector<double>& seconds);
  // Outputs as stored (Program::Buffer::format), one after the other.
  std::vector<std::byte> outputs() const;
  // Names of buffers whose surroundings were written; "" when none.
  std::string damaged() const;
  const Executor& executor() const { return *instances_[0].executor; }

 private:
  struct Instance {
    std::vector<std::unique_ptr<GuardedMemory>> inputs, weights;  // by Program::inputs, by buffer order
    std::unique_ptr<Executor> executor;
  };
  std::unique_ptr<GuardedMemory> allocate(const Program::Buffer& b, size_t bytes) const;
  Instance make_instance(const std::byte* blob);

  Program program_;
  RigOptions options_;
  std::vector<std::unique_ptr<GuardedMemory>> outputs_;      // by Program::outputs; null for constants
  std::vector<std::unique_ptr<GuardedMemory>> temporaries_;  // kModel: one arena
  std::vector<std::byte*> shared_;                           // by buffer: outputs and temporaries
  std::vector<Instance> instances_;
  size_t turn_ = 0;
};

}  // namespace amdahl
