#pragma once
// Compiles candidates, a few at a time, while nothing is measured.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "starter_kernels/backend.h"

namespace amdahl {

// A candidate's libraries, or why there are none.
struct Built {
  bool ok = false;
  std::string message;
  std::vector<std::string> libraries;  // by step
  std::string code;                    // hash of all its object code
  double seconds = 0;                  // of compiling, cache hits cost nothing
};

class Builder {
 public:
  // `parallel` compilers at once.
  Builder(std::shared_ptr<const Toolchain> toolchain, int parallel, const std::atomic<bool>* stop);
  // By candidate. Throws Stopped when the flag is raised: at most two seconds later.
  std::vector<Built> build(const std::vector<std::vector<Step>>& candidates);
  const Toolchain& toolchain() const { return *toolchain_; }

 private:
  std::shared_ptr<const Toolchain> toolchain_;
  int parallel_;
  const std::atomic<bool>* stop_;
};

}  // namespace amdahl
