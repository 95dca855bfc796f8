#pragma once
// Runs a Program in this process: allocates, packs constants, calls kernels in order. Used by `run`, by the worker (where
// kernels are not trusted) and by tests.

#include <functional>
#include <memory>
#include <vector>

#include "plan/program.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {

// For harnesses: where memory lies and what seeded constants hold. Any may be empty.
struct ExecutorHooks {
  // Memory for a buffer (not blob constants), or nullptr to let the executor allocate it. A seeded constant (blob_offset -1)
  // that is placed holds its numbers already, unless `fill` is given.
  std::function<std::byte*(int number, const Program::Buffer& buffer)> place;
  // Fills a seeded constant; called once, before it is packed.
  std::function<void(int number, const Program::Buffer& buffer, std::byte* data)> fill;
  // Memory whose size kernels state themselves: the workspace, packed copies. 64-byte aligned; holds anything.
  std::function<std::byte*(const std::string& name, size_t bytes)> scratch;
};

class Executor {
 public:
  // `blob`: the constants' bytes (may be a mapping; must outlive the executor unless all constants are packed).
  // Throws Error when a library does not load.
  Executor(Program program, const std::byte* blob, const ExecutorHooks& hooks = {});
  ~Executor();
  Executor(const Executor&) = delete;

  const Program& program() const;
  std::byte* buffer(int number);  // storage of an input, output or temporary
  // Inputs and outputs somewhere else: `at(number)`, or nullptr to leave a buffer where it is. Returns the binding's number;
  // 0 is the executor's own. Constants, temporaries and workspace are shared.
  int add_binding(const std::function<std::byte*(int number)>& at);
  void run(int binding = 0);
  // Packs constants again, into the same memory: their raw bytes have changed.
  void repack();
  // Ranges (offset, bytes) of the blob that nothing reads any more, because every kernel that used them packed a copy.
  std::vector<std::pair<int64_t, int64_t>> unused_blob_ranges() const;
  // As run(), with the wall-clock seconds of every call added to seconds[i].
  void run_timed(std::vector<double>& seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Row-major <-> storage format.
void to_format(const std::byte* plain, std::byte* stored, DType dtype, const Shape& shape, const std::string& format);
void from_format(const std::byte* stored, std::byte* plain, DType dtype, const Shape& shape, const std::string& format);

}  // namespace amdahl
