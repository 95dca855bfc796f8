#include "plan/executor.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "base/amx.h"
#include "base/error.h"
#include "plan/huge_pages.h"

namespace amdahl {

struct Executor::State {
  Program program;
  const std::byte* blob;
  std::vector<LoadedKernel> kernels;
  HugePages pages;  // the arena, the workspace, inputs, outputs, seeded constants, packed copies: what hooks do not place
  std::byte *arena = nullptr, *workspace = nullptr;
  std::vector<std::byte*> address;  // of every buffer
  struct Bound {
    const LoadedKernel* kernel;
    std::vector<const void*> in;
    std::vector<void*> out;
  };
  std::vector<std::vector<Bound>> bindings;
  struct Packed {
    const LoadedKernel* kernel;
    int input;
    const std::byte* raw;
    std::byte* copy;
    void pack() const { kernel->pack(input, raw, copy); }
  };
  std::vector<Packed> packed;
  std::vector<bool> raw_is_read;  // by buffer

  std::byte* temporary(const Program::Buffer& b) {
    if (!arena) arena = pages.take(program.arena_bytes);
    return arena + b.arena_offset;
  }
  void place_buffers(const ExecutorHooks& hooks);
  void bind_calls(const ExecutorHooks& hooks);
};

void Executor::State::place_buffers(const ExecutorHooks& hooks) {
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Program::Buffer& b = program.buffers[i];
    const int number = static_cast<int>(i);
    std::byte* memory = nullptr;
    if (b.role == Program::Role::kConstant && b.blob_offset >= 0) memory = const_cast<std::byte*>(blob) + b.blob_offset;
    else if (hooks.place) memory = hooks.place(number, b);
    const bool placed = memory != nullptr;
    if (!memory) memory = b.role == Program::Role::kTemporary ? temporary(b) : pages.take(b.bytes);
    if (b.role == Program::Role::kConstant && b.blob_offset < 0) {
      if (hooks.fill) hooks.fill(number, b, memory);
      else if (!placed) throw Error(ExitCode::kInternal, "a seeded constant without a generator");
    }
    address.push_back(memory);
  }
}

void Executor::State::bind_calls(const ExecutorHooks& hooks) {
  const auto scratch = [&](const std::string& name, size_t bytes) { return hooks.scratch ? hooks.scratch(name, bytes) : pages.take(bytes); };
  size_t workspace_bytes = 0;
  raw_is_read.assign(program.buffers.size(), false);
  std::map<std::tuple<int, int, int>, const void*> copies;  // (kernel, input, buffer)
  std::vector<Bound> calls;
  for (const Program::Call& call : program.calls) {
    Bound bound;
    bound.kernel = &kernels[static_cast<size_t>(call.kernel)];
    workspace_bytes = std::max(workspace_bytes, bound.kernel->workspace_bytes());
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const int number = call.inputs[i];
      const size_t bytes = bound.kernel->packed_bytes(static_cast<int>(i));
      if (bytes == 0) {
        raw_is_read[static_cast<size_t>(number)] = true;
        bound.in.push_back(address[static_cast<size_t>(number)]);
        continue;
      }
      if (program.buffers[static_cast<size_t>(number)].role != Program::Role::kConstant)
        throw Error(ExitCode::kInternal, "a kernel wants to pack an input that is not a constant");
      const void*& copy = copies[{call.kernel, static_cast<int>(i), number}];
      if (!copy) {
        packed.push_back({bound.kernel, static_cast<int>(i), address[static_cast<size_t>(number)],
                          scratch("packed " + program.buffers[static_cast<size_t>(number)].name, bytes)});
        packed.back().pack();
        copy = packed.back().copy;
      }
      bound.in.push_back(copy);
    }
    for (int number : call.outputs) bound.out.push_back(address[static_cast<size_t>(number)]);
    calls.push_back(std::move(bound));
  }
  bindings.push_back(std::move(calls));
  workspace = scratch("workspace", workspace_bytes);
}

Executor::Executor(Program program, const std::byte* blob, const ExecutorHooks& hooks)
    : state_(std::make_unique<State>()) {
  state_->program = std::move(program);
  state_->blob = blob;
  allow_amx();  // kernels do not ask themselves
  for (const std::string& library : state_->program.libraries) state_->kernels.emplace_back(library);
  state_->place_buffers(hooks);
  state_->bind_calls(hooks);
}

Executor::~Executor() = default;

const Program& Executor::program() const { return state_->program; }
std::byte* Executor::buffer(int number) { return state_->address[static_cast<size_t>(number)]; }

int Executor::add_binding(const std::function<std::byte*(int)>& at) {
  std::vector<State::Bound> calls = state_->bindings[0];
  const auto move_to = [&](auto& pointers, const std::vector<int>& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (pointers[i] != state_->address[static_cast<size_t>(numbers[i])]) continue;  // a packed copy
      if (std::byte* memory = at(numbers[i])) pointers[i] = memory;
    }
  };
  for (size_t c = 0; c < calls.size(); ++c) {
    move_to(calls[c].in, state_->program.calls[c].inputs);
    move_to(calls[c].out, state_->program.calls[c].outputs);
  }
  state_->bindings.push_back(std::move(calls));
  return static_cast<int>(state_->bindings.size()) - 1;
}

void Executor::repack() {
  for (const State::Packed& p : state_->packed) p.pack();
}

void Executor::run(int binding) {
  for (const State::Bound& call : state_->bindings[static_cast<size_t>(binding)])
    call.kernel->run(call.in.data(), call.out.data(), state_->workspace);
}

void Executor::run_timed(std::vector<double>& seconds) {
  const std::vector<State::Bound>& calls = state_->bindings[0];
  seconds.resize(calls.size(), 0.0);
  auto before = std::chrono::steady_clock::now();
  for (size_t c = 0; c < calls.size(); ++c) {
    const State::Bound& call = calls[c];
    call.kernel->run(call.in.data(), call.out.data(), state_->workspace);
    const auto now = std::chrono::steady_clock::now();
    seconds[c] += std::chrono::duration<double>(now - before).count();
    before = now;
  }
}

std::vector<std::pair<int64_t, int64_t>> Executor::unused_blob_ranges() const {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  std::vector<bool> is_output(state_->program.buffers.size(), false);
  for (int b : state_->program.outputs) is_output[static_cast<size_t>(b)] = true;
  for (size_t b = 0; b < state_->program.buffers.size(); ++b) {
    const Program::Buffer& buffer = state_->program.buffers[b];
    if (buffer.blob_offset >= 0 && !state_->raw_is_read[b] && !is_output[b])
      ranges.emplace_back(buffer.blob_offset, static_cast<int64_t>(buffer.bytes));
  }
  return ranges;
}

}  // namespace amdahl
