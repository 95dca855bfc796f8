#pragma once
// A folder of the compiled format (export/compiled.h), loaded and run in the process of somebody else.

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/cpu_device.h"
#include "plan/executor.h"

namespace amdahl {

class CompiledPlan {
 public:
  // Throws Error: a folder that is damaged or of another version (kIo), a processor that lacks something (kUnsupported).
  explicit CompiledPlan(const std::string& folder);
  CompiledPlan(const CompiledPlan&) = delete;

  enum class Run { kComputed, kBadIndex, kChanged };  // but for the first nothing was computed
  // Row-major tensors, in the order of plan.json. Any thread may call; they wait for each other, since temporaries are the plan's.
  Run run(const void* const* inputs, void* const* outputs);

  // Words of somebody else's memory: when one of them holds something else than now, run() says kChanged.
  void watch(std::span<const uint32_t* const> words);

  // In a child after fork(): whoever held the lock is no thread of this process.
  void forget_other_threads() { lock_.emplace(); }

 private:
  struct Indices {
    size_t input;
    DType dtype;
    int64_t count, limit;
  };
  struct Watched {
    const uint32_t* word;
    uint32_t value;
  };
  bool indices_are_good(const void* const* inputs) const;

  CpuDevice device_;
  size_t inputs_, outputs_;
  std::vector<Indices> indices_;
  std::vector<Watched> watched_;
  std::optional<Executor> executor_;
  std::optional<std::mutex> lock_{std::in_place};
};

}  // namespace amdahl
