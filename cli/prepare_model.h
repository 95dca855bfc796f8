#pragma once
// A plan made runnable in this process, on the device of GlobalOptions::backend: kernels compiled, constants laid out, executor ready.

#include <memory>

#include "cli/commands.h"
#include "plan/device.h"
#include "plan/executor.h"
#include "plan/plan.h"

namespace amdahl {

class PreparedModel {
 public:
  // Compiles every distinct kernel of the plan, as many at a time as there are cores, with progress. Throws Error when a
  // kernel does not compile, kInterrupted on Ctrl-C.
  PreparedModel(const Graph& graph, const Plan& plan, const GlobalOptions& global);
  PreparedModel(const PreparedModel&) = delete;

  Executor& executor() { return *executor_; }
  const std::string& toolchain() const { return toolchain_; }
  int kernels() const { return kernels_; }    // distinct ones
  int compiled() const { return compiled_; }  // of these, not found in the cache

  // Runs once, with the seconds of every step of the plan.
  std::vector<double> run_timed();
  // Row-major data of the graph's input or output number i.
  void set_input(int i, const Tensor& tensor);
  Tensor output(int i);

 private:
  std::vector<std::string> compile(const Plan& plan, const GlobalOptions& global);

  size_t steps_;
  std::string toolchain_;
  int kernels_ = 0, compiled_ = 0;
  std::vector<Shape> output_shapes_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Executor> executor_;
};

// Inputs that any model accepts: normal numbers; whole numbers that index the tables they are used on; true.
Tensor example_input(const Graph& graph, ValueId input, uint64_t seed);

}  // namespace amdahl
