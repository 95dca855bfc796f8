#include "tuner/worker/rig.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "tuner/worker/early_digest.h"

namespace amdahl {
namespace {

constexpr int kPoisonByte = 0xff;                        // a NaN in every float type, -1 in every integer type
constexpr uint64_t kNanBits = 0x7fff7fff7fff7fffull;     // with any sign: NaN as one double, two floats, four halves or bfloat16

}  // namespace

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
  std::vector<std::span<const std::byte>>& outputs = outputs_.emplace_back();
  for (size_t o = 0; o < program_.outputs.size(); ++o) {
    const auto number = static_cast<size_t>(program_.outputs[o]);
    const bool own = places.outputs[slot][o] >= 0;
    outputs.push_back(own ? std::span<const std::byte>(at[number], program_.buffers[number].bytes) : std::span<const std::byte>());
  }
  return at;
}

// Aligned as the executor's own: what lies beside it is looked at afterwards. All copies work in one workspace, as all steps of a
// model do: in one of its own, every copy's first call met pages that no call had touched, and races charged the candidate for
// them (docs/decisions/0015).
std::byte* Rig::scratch(const std::string& name, size_t bytes) {
  const bool is_workspace = name == "workspace";
  if (is_workspace && workspace_) return workspace_->data();
  temporaries_.push_back(std::make_unique<GuardedMemory>(name, bytes, 64, Layout::kModel));
  GuardedMemory* memory = temporaries_.back().get();
  if (is_workspace) {
    workspace_ = memory;
  } else {
    packed_.push_back(memory);
    std::memset(memory->data(), kPoisonByte, bytes);
  }
  return memory->data();
}

Rig::Rig(const Program& program, Device& device, const std::byte* constants, Layout layout, const Places& places)
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
    hooks.scratch = [&](const std::string& name, size_t bytes) { return scratch(name, bytes); };
    copy.executor = std::make_unique<Executor>(program_, device, constants, hooks);
    binding_of_slot_.push_back(0);
  }
  for (GuardedMemory* copy : packed_) copy->allow_writes(false);
  // What is soiled later is the process's from the beginning: no kernel is to be blamed for its pages.
  constexpr size_t kPage = 4096;
  for (size_t at = 0; workspace_ && at < workspace_->bytes(); at += kPage) workspace_->data()[at] = static_cast<std::byte>(kPoisonByte);
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
  for (GuardedMemory* copy : packed_) {
    copy->allow_writes(true);
    std::memset(copy->data(), kPoisonByte, copy->bytes());
  }
  for (Copy& c : copies_) c.executor->repack();
  for (GuardedMemory* copy : packed_) copy->allow_writes(false);
}

void Rig::soil(uint64_t seed) {
  Random random(seed);
  for (const std::unique_ptr<GuardedMemory>& memory : temporaries_) {
    if (std::find(packed_.begin(), packed_.end(), memory.get()) != packed_.end()) continue;
    std::byte *at = memory->data(), *end = at + memory->bytes();
    for (; end - at >= static_cast<std::ptrdiff_t>(sizeof(uint64_t)); at += sizeof(uint64_t)) {
      const uint64_t bits = random.next() | kNanBits;
      std::memcpy(at, &bits, sizeof bits);
    }
    std::memset(at, kPoisonByte, static_cast<size_t>(end - at));
  }
}

void Rig::soil_lines_of_workspace(uint64_t seed) {
  constexpr size_t kLine = 64;
  if (!workspace_ || workspace_->bytes() < kLine) return;
  Random random(seed);
  for (int i = 0; i < 32; ++i) std::memset(workspace_->data() + random.below(workspace_->bytes() / kLine) * kLine, kPoisonByte, kLine);
}

std::vector<uint64_t> Rig::digests(size_t slot, uint64_t seed) const {
  std::vector<uint64_t> digests;
  for (const std::span<const std::byte> output : outputs_[slot]) digests.push_back(output.empty() ? 0 : early_digest(output, seed));
  return digests;
}

void Rig::run_timed(std::vector<double>& seconds) { copies_[0].executor->run_timed(seconds); }

bool Rig::damaged() const {
  return !std::all_of(temporaries_.begin(), temporaries_.end(), [](const auto& m) { return m->intact(); });
}

}  // namespace amdahl
