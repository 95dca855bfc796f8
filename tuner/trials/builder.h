#pragma once
// Compiles candidates, a few at a time, while nothing is measured.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/experiment.h"
#include "plan/plan.h"
#include "starter_kernels/toolchain/library_rules.h"
#include "starter_kernels/toolchain/toolchain.h"

namespace amdahl {

// A candidate's libraries, or why there are none.
struct BuildResult {
  bool ok = false;
  std::string message;
  std::vector<std::string> libraries;  // by step
  std::string failure_code;            // CompileResult::code of the step that failed
  std::string code;                    // hash of all its object code
  double seconds = 0;                  // of compiling, cache hits cost nothing

  // What it means for a candidate that it is not ok: kMistrusted where a library asks for what no kernel needs, else kBuildFailed.
  Outcome outcome() const { return is_conduct(failure_code) ? Outcome::kMistrusted : Outcome::kBuildFailed; }
};

class Builder {
 public:
  // `parallel` compilers at once.
  Builder(std::shared_ptr<const Toolchain> toolchain, int parallel, const std::atomic<bool>* stop);
  // By candidate. Throws Stopped when the flag is raised: at most two seconds later; Error when nothing can be built any more.
  std::vector<BuildResult> build(const std::vector<std::vector<Step>>& candidates);
  // By candidate: `count` placebo builds (starter_kernels/toolchain/placebo.h) from number `first` on. Their `code` is empty: identity
  // is build()'s. Made only for a proof; the compiler runs once a kernel, then an assembler a build.
  std::vector<std::vector<BuildResult>> placebos(const std::vector<std::vector<Step>>& candidates, int first, int count);
  const Toolchain& toolchain() const { return *toolchain_; }
  const Target& target() const { return toolchain_->target(); }

 private:
  // One compile: a variant, and the number of its placebo build or 0.
  struct Job {
    const Variant* variant;
    int placebo;
  };
  struct Queue;
  static void work(const std::shared_ptr<Queue>& queue, const std::shared_ptr<const Toolchain>& toolchain);
  using Results = std::map<std::pair<std::string, int>, CompileResult>;  // by variant and number
  Results compile(const std::vector<Job>& jobs) const;

  std::shared_ptr<const Toolchain> toolchain_;
  int parallel_;
  const std::atomic<bool>* stop_;
};

}  // namespace amdahl
