#include "plan/executor.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/error.h"

namespace amdahl {

struct Executor::State {
  Program program;
  Device& device;
  const std::byte* blob;
  std::vector<std::unique_ptr<KernelModule>> kernels;
  std::byte* arena = nullptr;
  std::vector<std::byte*> address;  // of every buffer
  std::vector<BoundCall> calls;     // as first bound
  struct Binding {
    std::vector<BoundCall> calls;
    std::unique_ptr<Executable> program;
  };
  std::vector<Binding> bindings;
  struct Packed {
    const KernelModule* kernel;
    int input;
    const std::byte* raw;
    std::byte* copy;
    void pack() const { kernel->pack(input, raw, copy); }
  };
  std::vector<Packed> packed;
  std::vector<bool> raw_is_read;  // by buffer
  // For run_on(): the calls once more, and where in them inputs and outputs stand.
  struct Place {
    size_t call, operand;
    bool written;        // by the call
    Program::Role role;  // kInput or kOutput: `number` is one of those
    size_t number;
  };
  struct Copy {  // of an output that no call writes: it is an input, a constant or another output
    Program::Role role;
    size_t number;
    const std::byte* constant;
    size_t output, bytes;
  };
  std::unique_ptr<Executable> moving;
  std::vector<Place> places;
  std::vector<Copy> copies;

  std::byte* temporary(const Program::Buffer& b) {
    if (!arena) arena = device.allocate(program.arena_bytes);
    return arena + b.arena_offset;
  }
  void place_buffers(const ExecutorHooks& hooks);
  void bind_calls(const ExecutorHooks& hooks);
  void find_places();
};

void Executor::State::place_buffers(const ExecutorHooks& hooks) {
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Program::Buffer& b = program.buffers[i];
    const bool is_constant = b.role == Program::Role::kConstant;
    std::byte* memory = nullptr;
    if (is_constant && b.blob_offset >= 0) memory = const_cast<std::byte*>(blob) + b.blob_offset;
    else if (hooks.place) memory = hooks.place(static_cast<int>(i), b);
    if (!memory && is_constant) throw Error(ExitCode::kInternal, "a seeded constant without a place");
    if (!memory) memory = b.role == Program::Role::kTemporary ? temporary(b) : device.allocate(b.bytes);
    address.push_back(memory);
  }
}

void Executor::State::bind_calls(const ExecutorHooks& hooks) {
  const auto scratch = [&](const std::string& name, size_t bytes) { return hooks.scratch ? hooks.scratch(name, bytes) : device.allocate(bytes); };
  size_t workspace_bytes = 0;
  raw_is_read.assign(program.buffers.size(), false);
  std::map<std::tuple<int, int, int>, const std::byte*> copies;  // (kernel, input, buffer)
  for (const Program::Call& call : program.calls) {
    BoundCall bound;
    bound.kernel = kernels[static_cast<size_t>(call.kernel)].get();
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
      const std::byte*& copy = copies[{call.kernel, static_cast<int>(i), number}];
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
  std::byte* workspace = scratch("workspace", workspace_bytes);
  for (BoundCall& call : calls) call.workspace = workspace;
  bindings.push_back({calls, device.prepare(calls)});
}

void Executor::State::find_places() {
  const auto number_of = [](const std::vector<int>& list, int buffer) {
    return static_cast<size_t>(std::find(list.begin(), list.end(), buffer) - list.begin());
  };
  for (size_t c = 0; c < calls.size(); ++c) {
    const auto add = [&](const std::vector<int>& operands, bool written) {
      for (size_t i = 0; i < operands.size(); ++i)
        for (const auto& [role, list] : {std::pair{Program::Role::kInput, &program.inputs}, {Program::Role::kOutput, &program.outputs}})
          if (program.buffers[static_cast<size_t>(operands[i])].role == role) places.push_back({c, i, written, role, number_of(*list, operands[i])});
    };
    add(program.calls[c].inputs, false);
    add(program.calls[c].outputs, true);
  }
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    const Program::Buffer& b = program.buffers[static_cast<size_t>(program.outputs[o])];
    const size_t number = number_of(b.role == Program::Role::kInput ? program.inputs : program.outputs, program.outputs[o]);
    if (b.role == Program::Role::kOutput && number == o) continue;
    copies.push_back({b.role, number, b.role == Program::Role::kConstant ? address[static_cast<size_t>(program.outputs[o])] : nullptr, o, b.bytes});
  }
  moving = device.prepare(calls);
}

Executor::Executor(Program program, Device& device, const std::byte* blob, const ExecutorHooks& hooks) : state_(new State{std::move(program), device, blob}) {
  for (const std::string& library : state_->program.libraries) state_->kernels.push_back(device.load(library));
  state_->place_buffers(hooks);
  state_->bind_calls(hooks);
}

Executor::~Executor() = default;

const Program& Executor::program() const { return state_->program; }
void Executor::write(int number, std::span<const std::byte> from) { state_->device.write(state_->address[static_cast<size_t>(number)], from); }
void Executor::read(int number, std::span<std::byte> to) const { state_->device.read(state_->address[static_cast<size_t>(number)], to); }

int Executor::add_binding(const std::function<std::byte*(int)>& at) {
  std::vector<BoundCall> calls = state_->calls;
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
  state_->bindings.push_back({calls, state_->device.prepare(calls)});
  return static_cast<int>(state_->bindings.size()) - 1;
}

void Executor::repack() {
  for (const State::Packed& p : state_->packed) p.pack();
}

void Executor::run(int binding) { state_->bindings[static_cast<size_t>(binding)].program->run(); }

void Executor::run_on(std::span<const void* const> inputs, std::span<void* const> outputs) {
  State& s = *state_;
  if (!s.moving) s.find_places();
  const auto address = [&](Program::Role role, size_t number) { return role == Program::Role::kInput ? inputs[number] : outputs[number]; };
  for (const State::Place& p : s.places) {
    if (p.written) s.moving->move_output(p.call, p.operand, outputs[p.number]);
    else s.moving->move_input(p.call, p.operand, address(p.role, p.number));
  }
  s.moving->run();
  for (const State::Copy& c : s.copies) std::memcpy(outputs[c.output], c.constant ? c.constant : address(c.role, c.number), c.bytes);
}

std::optional<double> Executor::run_clocked() { return state_->bindings[0].program->run_clocked(); }

const std::vector<BoundCall>& Executor::calls(int binding) const { return state_->bindings[static_cast<size_t>(binding)].calls; }

void Executor::run_timed(std::vector<double>& seconds) {
  seconds.resize(state_->calls.size(), 0.0);
  state_->bindings[0].program->run_timed(seconds);
}

void Executor::discard_packed_constants() {
  std::vector<bool> is_output(state_->program.buffers.size(), false);
  for (int b : state_->program.outputs) is_output[static_cast<size_t>(b)] = true;
  for (size_t b = 0; b < state_->program.buffers.size(); ++b) {
    const Program::Buffer& buffer = state_->program.buffers[b];
    if (buffer.blob_offset >= 0 && !state_->raw_is_read[b] && !is_output[b]) state_->device.discard(state_->blob + buffer.blob_offset, buffer.bytes);
  }
}

}  // namespace amdahl
