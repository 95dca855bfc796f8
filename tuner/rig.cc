#include "tuner/rig.h"

#include <algorithm>
#include <cstring>

namespace amdahl {
namespace {

// Seeded bytes in the buffer's storage format.
template <typename Fill>
void fill_stored(const Program::Buffer& b, std::byte* data, Fill fill) {
  const int64_t n = numel(b.shape);
  if (b.format.empty()) return fill(data, n);
  std::vector<std::byte> plain(static_cast<size_t>(n) * size_of(b.dtype));
  fill(plain.data(), n);
  to_format(plain.data(), data, b.dtype, b.shape, b.format);
}

}  // namespace

std::unique_ptr<GuardedMemory> Rig::allocate(const Program::Buffer& b, size_t bytes) const {
  return std::make_unique<GuardedMemory>(b.name, bytes, size_of(b.dtype), options_.layout);
}

Rig::Rig(const Program& program, const std::byte* blob, const RigOptions& options)
    : program_(program), options_(options), shared_(program.buffers.size(), nullptr) {
  for (int number : program_.outputs) {
    const Program::Buffer& b = program_.buffers[static_cast<size_t>(number)];
    if (b.role == Program::Role::kOutput && !shared_[static_cast<size_t>(number)]) {
      outputs_.push_back(allocate(b, b.bytes));
      shared_[static_cast<size_t>(number)] = outputs_.back()->data();
    } else {
      outputs_.push_back(nullptr);  // a constant, or an output named twice
    }
  }
  if (options_.layout == Layout::kModel) {
    temporaries_.push_back(std::make_unique<GuardedMemory>("arena", program_.arena_bytes, 64, options_.layout));
  }
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    const Program::Buffer& b = program_.buffers[i];
    if (b.role != Program::Role::kTemporary) continue;
    if (options_.layout == Layout::kModel) {
      shared_[i] = temporaries_[0]->data() + b.arena_offset;
    } else {
      temporaries_.push_back(allocate(b, b.bytes));
      shared_[i] = temporaries_.back()->data();
    }
  }
  instances_.reserve(static_cast<size_t>(options_.instances));
  for (int i = 0; i < options_.instances; ++i) instances_.push_back(make_instance(blob));
}

Rig::~Rig() = default;

Rig::Instance Rig::make_instance(const std::byte* blob) {
  Instance made;
  std::vector<std::byte*> input_at(program_.buffers.size(), nullptr);
  for (int number : program_.inputs) {
    const Program::Buffer& b = program_.buffers[static_cast<size_t>(number)];
    made.inputs.push_back(allocate(b, b.bytes));
    input_at[static_cast<size_t>(number)] = made.inputs.back()->data();
  }
  ExecutorHooks hooks;
  hooks.place = [&](int number, const Program::Buffer& b) -> std::byte* {
    if (input_at[static_cast<size_t>(number)]) return input_at[static_cast<size_t>(number)];
    if (b.role != Program::Role::kConstant) return shared_[static_cast<size_t>(number)];
    made.weights.push_back(allocate(b, b.bytes));
    return made.weights.back()->data();
  };
  hooks.fill = [&](int, const Program::Buffer& b, std::byte* data) {
    if (!instances_.empty()) {  // the bytes need not differ between copies, the addresses must
      std::memcpy(data, instances_[0].weights[made.weights.size() - 1]->data(), b.bytes);
      return;
    }
    fill_stored(b, data, [&](std::byte* plain, int64_t n) {
      fill_weight(plain, b.dtype, n, b.mean, b.deviation, options_.weights_seed, b.source, options_.ternary_weights);
    });
  };
  made.executor = std::make_unique<Executor>(program_, blob, hooks);
  for (auto& w : made.weights) w->set_writable(false);
  return made;
}

void Rig::fill_inputs(Family family, uint64_t seed, const std::vector<InputRange>& ranges) {
  for (size_t instance = 0; instance < instances_.size(); ++instance) {
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const Program::Buffer& b = program_.buffers[static_cast<size_t>(program_.inputs[i])];
      GuardedMemory& memory = *instances_[instance].inputs[i];
      const int source = b.source >= 0 ? b.source : static_cast<int>(i);
      memory.set_writable(true);
      fill_stored(b, memory.data(), [&](std::byte* plain, int64_t n) {
        fill_input(plain, b.dtype, n, family, seed + instance, source,
                   static_cast<size_t>(source) < ranges.size() ? ranges[static_cast<size_t>(source)] : InputRange{});
      });
      memory.set_writable(false);
    }
  }
}

void Rig::poison_outputs(uint64_t seed) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i]) continue;
    const Program::Buffer& b = program_.buffers[static_cast<size_t>(program_.outputs[i])];
    poison(outputs_[i]->data(), b.dtype, static_cast<int64_t>(b.bytes / size_of(b.dtype)), seed + i);
  }
}

void Rig::run(int calls) {
  for (int i = 0; i < calls; ++i) {
    instances_[turn_].executor->run();
    turn_ = turn_ + 1 == instances_.size() ? 0 : turn_ + 1;
  }
}

void Rig::run_instance(int i) { instances_[static_cast<size_t>(i)].executor->run(); }

void Rig::run_timed(std::vector<double>& seconds) { instances_[0].executor->run_timed(seconds); }

std::vector<std::byte> Rig::outputs() const {
  std::vector<std::byte> bytes;
  for (int number : program_.outputs) {
    const std::byte* data = instances_[0].executor->buffer(number);
    bytes.insert(bytes.end(), data, data + program_.buffers[static_cast<size_t>(number)].bytes);
  }
  return bytes;
}

std::string Rig::damaged() const {
  std::string names;
  const auto look = [&](const auto& memories, const char* what) {
    for (const auto& m : memories)
      if (m && !m->slack_intact()) names += names.empty() ? what : std::string(", ") + what;
  };
  look(outputs_, "an output");
  look(temporaries_, "a temporary");
  for (const Instance& i : instances_) {
    look(i.inputs, "an input");
    look(i.weights, "a weight");
  }
  return names;
}

}  // namespace amdahl
