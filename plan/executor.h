#pragma once
// Runs a Program on a device in this process: allocates, packs constants, calls kernels in order. Used by `run`, by the worker (where
// kernels are not trusted) and by tests.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plan/device.h"
#include "plan/program.h"

namespace amdahl {

// For trials: where memory lies, in the device's addresses. Either may be empty.
struct ExecutorHooks {
  // Memory for a buffer (not blob constants), or nullptr to let the executor allocate it. Seeded constants (blob_offset -1) must be placed, and hold
  // their numbers already.
  std::function<std::byte*(int number, const Program::Buffer& buffer)> place;
  // Memory whose size kernels state themselves: the workspace, packed copies. 64-byte aligned; holds anything.
  std::function<std::byte*(const std::string& name, size_t bytes)> scratch;
};

class Executor {
 public:
  // `blob`: the device's address of the constants' bytes. The device and they must outlive the executor. Throws Error when a kernel does not load.
  Executor(Program program, Device& device, const std::byte* blob, const ExecutorHooks& hooks = {});
  ~Executor();
  Executor(const Executor&) = delete;

  const Program& program() const;
  // Bytes of an input, output or temporary, as stored: all of them, or the first.
  void write(int number, std::span<const std::byte> from);
  void read(int number, std::span<std::byte> to) const;
  // Inputs and outputs somewhere else: `at(number)`, or nullptr to leave a buffer where it is. Returns the binding's number;
  // 0 is the executor's own. Constants, temporaries and workspace are shared.
  int add_binding(const std::function<std::byte*(int number)>& at);
  void run(int binding = 0);
  // As run(), with inputs and outputs, in the program's order, at these addresses, which may be others each time. Of devices whose memory is the host's.
  void run_on(std::span<const void* const> inputs, std::span<void* const> outputs);
  // As run(); the seconds that it took by the device's own clock, where that knows better than the caller's.
  std::optional<double> run_clocked();
  // The calls of a binding: those of several can be prepared as one program of the device (Device::prepare).
  const std::vector<BoundCall>& calls(int binding) const;
  // Packs constants again, into the same memory: their raw bytes have changed.
  void repack();
  // Discards those of the blob that nothing reads any more, because every kernel that used them packed a copy. They cannot be packed again.
  void discard_packed_constants();
  // As run(), with the wall-clock seconds of every call added to seconds[i].
  void run_timed(std::vector<double>& seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace amdahl
