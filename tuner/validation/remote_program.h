#pragma once
// One worker with one program in it, and the memory that both sides see: everything the supervisor does to try a program.

#include <memory>
#include <string>
#include <vector>

#include "tuner/validation/input_source.h"
#include "tuner/validation/reference.h"
#include "tuner/worker/constants_file.h"
#include "tuner/worker/worker_process.h"

namespace amdahl {

class RemoteProgram {
 public:
  // Starts the worker and loads the program's libraries. All but the options must outlive this. Throws what WorkerProcess
  // throws.
  RemoteProgram(const WorkerOptions& options, const Program& program, InputSource& input_source, const ConstantsFile& constants);

  // `slots` calls in a row with operands of their own, over `copies` of the weights, drawn as in `weights`. `twin`: for WorkerProcess::run_both().
  void bind(Layout layout, int slots, int copies, const Draw& weights, double seconds, bool twin = false);
  // New weights at the same addresses.
  void change_weights(const Draw& weights, double seconds);
  void draw(size_t slot, const Draw& draw) { input_source_.draw_inputs(program_, operands_, slot, draw); }
  void new_pool(uint64_t seed) { input_source_.new_pool(seed); }
  void freshen(size_t slot, Distribution distribution, Random& random) { input_source_.fresh_inputs(program_, operands_, slot, distribution, random); }
  void poison_outputs(size_t slot, uint64_t seed);
  // One call, with workspace and temporaries scribbled over. "" or what of its outputs was written after it had returned.
  std::string trial(const Trial& trial, double seconds);

  // "" or what is wrong with a slot's outputs whoever computed them: elements that still hold the poison …
  std::string unwritten(size_t slot, uint64_t seed);
  // … or bytes beside them that do not hold what was put there.
  bool slack_intact(size_t slot);
  std::vector<Tensor> inputs(size_t slot) const { return input_source_.inputs(program_, operands_, slot); }
  // As stored, in the order of Program::outputs.
  std::vector<std::byte> outputs(size_t slot);
  std::string outputs_hash(size_t slot);
  bool outputs_equal(size_t slot, const std::vector<std::byte>& bytes);

  WorkerProcess& worker() { return worker_; }
  const WorkerProcess& worker() const { return worker_; }
  const Program& program() const { return program_; }
  size_t slots() const { return operands_.slots(); }

 private:
  template <typename Visit>
  void visit_outputs(size_t slot, Visit visit);
  const Region& region_of(int number, size_t slot);

  const Program& program_;
  InputSource& input_source_;
  const ConstantsFile& constants_;
  WorkerProcess worker_;
  OperandRegions operands_;
};

// Copies of the weights that calls read in turn, so that they come from where they do in the model, which touches `run_bytes` between two calls: weights
// of 14 MiB stay in an L3 of 32. Of more than 96 MiB copies make no more.
int copies_for(const Program& program, size_t run_bytes);

}  // namespace amdahl
