#include "tuner/worker/bound_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/random.h"
#include "tuner/worker/early_digest.h"

namespace amdahl {
namespace {

constexpr std::byte kPoison{0xff};                    // a NaN in every float type, -1 in every integer type
constexpr uint64_t kNanBits = 0x7fff7fff7fff7fffull;  // with any sign: NaN as one double, two floats, four halves or bfloat16
constexpr size_t kPiece = size_t{64} << 10;           // bytes that are made before they are written: whole words

}  // namespace

std::unique_ptr<GuardedBuffer> BoundProgram::map(int number, Operands operands, int64_t at, Layout layout) const {
  const Program::Buffer& b = program_.buffers[static_cast<size_t>(number)];
  return device_.map(b.name, b.bytes, size_of(b.dtype), layout, operands, at);
}

// `make(span)` gives the memory's bytes, piece by piece, of which all but the last are kPiece long.
template <typename Make>
void BoundProgram::fill(const GuardedBuffer& memory, Make make) {
  for (size_t at = 0; at < memory.bytes(); at += kPiece) {
    const std::span<std::byte> piece(piece_.data(), std::min(kPiece, memory.bytes() - at));
    make(piece);
    device_.device().write(memory.data() + at, piece);
  }
}

void BoundProgram::poison(const GuardedBuffer& memory) {
  fill(memory, [](std::span<std::byte> piece) { std::fill(piece.begin(), piece.end(), kPoison); });
}

// Addresses by buffer; null for what is no input or output.
std::vector<std::byte*> BoundProgram::map_slot(size_t slot, const Places& places) {
  std::vector<std::byte*> at(program_.buffers.size(), nullptr);
  const auto place = [&](const std::vector<int>& numbers, const std::vector<int64_t>& offsets, Operands operands) {
    std::vector<const GuardedBuffer*> placed(numbers.size(), nullptr);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (offsets[i] < 0) continue;
      operands_.push_back(map(numbers[i], operands, offsets[i], layout_));
      placed[i] = operands_.back().get();
      operands_of_slot_[slot].push_back(operands_.back().get());
      at[static_cast<size_t>(numbers[i])] = placed[i]->data();
    }
    return placed;
  };
  place(program_.inputs, places.inputs[slot], Operands::kRead);
  outputs_.push_back(place(program_.outputs, places.outputs[slot], Operands::kWritten));
  return at;
}

// Aligned as the executor's own: what lies beside it is looked at afterwards. All copies work in one workspace, as all steps of a
// model do: in one of its own, every copy's first call met pages that no call had touched, and races charged the candidate for
// them (docs/decisions/0015).
std::byte* BoundProgram::scratch(const std::string& name, size_t bytes) {
  const bool is_workspace = name == "workspace";
  if (is_workspace && workspace_) return workspace_->data();
  temporaries_.push_back(device_.allocate(name, bytes, 64, Layout::kModel));
  GuardedBuffer* memory = temporaries_.back().get();
  if (is_workspace) {
    workspace_ = memory;
  } else {
    packed_.push_back(memory);
    poison(*memory);
  }
  return memory->data();
}

void BoundProgram::allocate_temporaries() {
  if (layout_ == Layout::kModel) temporaries_.push_back(device_.allocate("arena", program_.arena_bytes, 64, layout_));
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const Program::Buffer& b = program_.buffers[i];
    if (b.role != Program::Role::kTemporary) continue;
    if (layout_ == Layout::kModel) {
      temporary_at_[i] = temporaries_[0]->data() + b.arena_offset;
    } else {
      temporaries_.push_back(device_.allocate(b.name, b.bytes, size_of(b.dtype), layout_));
      temporary_at_[i] = temporaries_.back()->data();
    }
  }
}

BoundProgram::BoundProgram(const Program& program, WorkerDevice& device, Layout layout, const Places& places)
    : program_(program), device_(device), layout_(layout), piece_(kPiece), temporary_at_(program.buffers.size(), nullptr) {
  const std::byte* constants = program_.blob_bytes > 0 ? device_.constants(program_.blob_bytes) : nullptr;
  allocate_temporaries();
  const size_t slots = places.inputs.size(), copies = std::max<size_t>(places.weights.size(), 1);
  copies_.resize(std::min(copies, slots));
  operands_of_slot_.resize(slots);
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
      copy.weights.push_back(map(number, Operands::kRead, offsets.at(copy.weights.size()), layout_of_weight(b.bytes, layout_)));
      copy.weights.back()->take();
      return copy.weights.back()->data();
    };
    hooks.scratch = [&](const std::string& name, size_t bytes) { return scratch(name, bytes); };
    copy.executor = std::make_unique<Executor>(program_, device_.device(), constants, hooks);
    binding_of_slot_.push_back(0);
  }
  for (GuardedBuffer* copy : packed_) copy->allow_writes(false);
  // What is scribbled over later is the process's from the beginning: no kernel is to be blamed for its pages.
  constexpr size_t kPage = 4096;
  for (size_t at = 0; workspace_ && at < workspace_->bytes(); at += kPage) device_.device().write(workspace_->data() + at, {&kPoison, 1});
}

BoundProgram::~BoundProgram() = default;

std::optional<double> BoundProgram::run(int first, int count, int times) {
  const auto slot = [&](int i) { return static_cast<size_t>(first + i) % binding_of_slot_.size(); };
  for (int i = 0; i < count; ++i)
    for (GuardedBuffer* operand : operands_of_slot_[slot(i)]) operand->take();
  std::optional<double> seconds;
  if (device_.has_clock()) seconds = count > 0 ? row(static_cast<int>(slot(0)), count, times).run_clocked() : 0;
  else run_by_slots(first, count, times);
  for (int i = 0; i < count; ++i)
    for (GuardedBuffer* operand : operands_of_slot_[slot(i)]) operand->deliver();
  return seconds;
}

void BoundProgram::run_by_slots(int first, int count, int times) {
  const size_t slots = binding_of_slot_.size();
  for (int t = 0; t < times; ++t) {
    for (int i = 0; i < count; ++i) {
      const size_t slot = static_cast<size_t>(first + i) % slots;
      copies_[slot % copies_.size()].executor->run(binding_of_slot_[slot]);
    }
  }
}

// One program of all calls: begun one by one from the host, calls of microseconds would wait for it.
Executable& BoundProgram::row(int first, int count, int times) {
  std::unique_ptr<Executable>& row = rows_[{first, count, times}];
  if (row) return *row;
  const size_t slots = binding_of_slot_.size();
  std::vector<BoundCall> calls;
  for (int i = 0; i < count * times; ++i) {
    const size_t slot = static_cast<size_t>(first + i % count) % slots;
    const std::vector<BoundCall>& of_slot = copies_[slot % copies_.size()].executor->calls(binding_of_slot_[slot]);
    calls.insert(calls.end(), of_slot.begin(), of_slot.end());
  }
  row = device_.device().prepare(std::move(calls));
  return *row;
}

void BoundProgram::repack() {
  for (GuardedBuffer* copy : packed_) {
    copy->allow_writes(true);
    poison(*copy);
  }
  for (Copy& c : copies_) {
    for (const std::unique_ptr<GuardedBuffer>& w : c.weights) w->take();
    c.executor->repack();
  }
  for (GuardedBuffer* copy : packed_) copy->allow_writes(false);
}

void BoundProgram::scribble(uint64_t seed) {
  Random random(seed);
  const auto nans = [&](std::span<std::byte> piece) {
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= piece.size(); at += sizeof(uint64_t)) {
      const uint64_t bits = random.next() | kNanBits;
      std::memcpy(piece.data() + at, &bits, sizeof bits);
    }
    std::fill(piece.begin() + static_cast<std::ptrdiff_t>(at), piece.end(), kPoison);
  };
  for (const std::unique_ptr<GuardedBuffer>& memory : temporaries_)
    if (std::find(packed_.begin(), packed_.end(), memory.get()) == packed_.end()) fill(*memory, nans);
}

void BoundProgram::scribble_lines_of_workspace(uint64_t seed) {
  constexpr size_t kLine = 64;
  if (!workspace_ || workspace_->bytes() < kLine) return;
  std::array<std::byte, kLine> line;
  line.fill(kPoison);
  Random random(seed);
  for (int i = 0; i < 32; ++i) device_.device().write(workspace_->data() + random.below(workspace_->bytes() / kLine) * kLine, line);
}

std::vector<uint64_t> BoundProgram::digests(size_t slot, uint64_t seed) const {
  std::vector<uint64_t> digests;
  for (const GuardedBuffer* output : outputs_[slot]) {
    const auto read = [&](size_t at, std::span<std::byte> to) { device_.device().read(output->data() + at, to); };
    digests.push_back(output && output->bytes() > 0 ? early_digest(output->bytes(), seed, read) : 0);
  }
  return digests;
}

void BoundProgram::run_timed(std::vector<double>& seconds) { copies_[0].executor->run_timed(seconds); }

bool BoundProgram::damaged() const {
  const auto as_taken = [](const Copy& c) { return std::all_of(c.weights.begin(), c.weights.end(), [](const auto& w) { return w->is_as_taken(); }); };
  return !std::all_of(temporaries_.begin(), temporaries_.end(), [](const auto& m) { return m->intact(); }) ||
         !std::all_of(copies_.begin(), copies_.end(), as_taken);
}

}  // namespace amdahl
