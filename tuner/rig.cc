#include "tuner/rig.h"

#include <algorithm>

namespace amdahl {

Layout layout_of_weight(size_t bytes, Layout layout) {
  return layout != Layout::kModel && bytes > kLargeWeight ? Layout::kEnd : layout;
}

std::unique_ptr<GuardedMemory> Rig::map(int number, int fd, int64_t at, bool writable, Layout layout) const {
  const Program::Buffer& b = program_.buffers[static_cast<size_t>(number)];
  return std::make_unique<GuardedMemory>(b.name, b.bytes, size_of(b.dtype), layout, fd, at, writable);
}

// Addresses by buffer; null for what is no input or output.
std::vector<std::byte*> Rig::map_slot(size_t slot, const Places& places) {
  std::vector<std::byte*> at(program_.buffers.size(), nullptr);
  const auto place = [&](const std::vector<int>& numbers, const std::vector<int64_t>& offsets, int fd, bool writable) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (offsets[i] < 0) continue;
      operands_.push_back(map(numbers[i], fd, offsets[i], writable, layout_));
      at[static_cast<size_t>(numbers[i])] = operands_.back()->data();
    }
  };
  place(program_.inputs, places.inputs[slot], kInputsDescriptor, false);
  place(program_.outputs, places.outputs[slot], kOutputsDescriptor, true);
  return at;
}

Rig::Rig(const Program& program, const std::byte* constants, Layout layout, const Places& places)
    : program_(program), layout_(layout), temporary_at_(program.buffers.size(), nullptr) {
  if (layout_ == Layout::kModel)
    temporaries_.push_back(std::make_unique<GuardedMemory>("arena", program_.arena_bytes, 64, layout_));
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const Program::Buffer& b = program_.buffers[i];
    if (b.role != Program::Role::kTemporary) continue;
    if (layout_ == Layout::kModel) {
      temporary_at_[i] = temporaries_[0]->data() + b.arena_offset;
    } else {
      temporaries_.push_back(std::make_unique<GuardedMemory>(b.name, b.bytes, size_of(b.dtype), layout_));
      temporary_at_[i] = temporaries_.back()->data();
    }
  }
  const size_t slots = places.inputs.size(), copies = std::max<size_t>(places.weights.size(), 1);
  copies_.resize(std::min(copies, slots));
  for (size_t slot = 0; slot < slots; ++slot) {
    Copy& copy = copies_[slot % copies_.size()];
    const std::vector<std::byte*> at = map_slot(slot, places);
    if (copy.executor) {
      binding_of_slot_.push_back(copy.executor->add_binding([&](int number) { return at[static_cast<size_t>(number)]; }));
      continue;
    }
    ExecutorHooks hooks;
    hooks.place = [&](int number, const Program::Buffer& b) -> std::byte* {
      const auto n = static_cast<size_t>(number);
      if (b.role != Program::Role::kConstant) return at[n] ? at[n] : temporary_at_[n];
      const std::vector<int64_t>& offsets = places.weights[slot % copies_.size()];
      copy.weights.push_back(map(number, kInputsDescriptor, offsets.at(copy.weights.size()), false,
                                 layout_of_weight(b.bytes, layout_)));
      return copy.weights.back()->data();
    };
    // Aligned as the executor's own: what lies beside it is looked at afterwards. All copies work in one workspace, as all steps of a
    // model do: in one of its own, every copy's first call met pages that no call had touched, and races charged the candidate for
    // them (docs/decisions/0015).
    hooks.scratch = [&](const std::string& name, size_t bytes) {
      if (name == "workspace" && workspace_) return workspace_;
      temporaries_.push_back(std::make_unique<GuardedMemory>(name, bytes, 64, Layout::kModel));
      if (name == "workspace") workspace_ = temporaries_.back()->data();
      return temporaries_.back()->data();
    };
    copy.executor = std::make_unique<Executor>(program_, constants, hooks);
    binding_of_slot_.push_back(0);
  }
}

Rig::~Rig() = default;

void Rig::run(int first, int count, int times) {
  const size_t slots = binding_of_slot_.size();
  for (int t = 0; t < times; ++t) {
    for (int i = 0; i < count; ++i) {
      const size_t slot = static_cast<size_t>(first + i) % slots;
      copies_[slot % copies_.size()].executor->run(binding_of_slot_[slot]);
    }
  }
}

void Rig::repack() {
  for (Copy& c : copies_) c.executor->repack();
}

void Rig::run_timed(std::vector<double>& seconds) { copies_[0].executor->run_timed(seconds); }

bool Rig::damaged() const {
  return !std::all_of(temporaries_.begin(), temporaries_.end(), [](const auto& m) { return m->intact(); });
}

}  // namespace amdahl
