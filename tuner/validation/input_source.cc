#include "tuner/validation/input_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plan/format.h"

namespace amdahl {
namespace {

// A quiet NaN in every float type; an index that is out of every range.
constexpr std::byte kInputSlack{0xFF};
// Places in the pool where a call's numbers may begin: of the 5,000 calls of a process some ten begin where another did.
constexpr size_t kBeginnings = size_t{1} << 20;

bool is_seeded(const Program::Buffer& b) { return b.role == Program::Role::kConstant && b.blob_offset < 0; }

int source_of(const Program::Buffer& b, size_t position) { return b.source >= 0 ? b.source : static_cast<int>(position); }

// Row-major numbers of `fill`, stored in the buffer's format.
template <typename Fill>
void fill_stored(const Program::Buffer& b, std::byte* data, Fill fill) {
  if (b.format.empty()) return fill(data);
  std::vector<std::byte> plain(static_cast<size_t>(numel(b.shape)) * size_of(b.dtype));
  fill(plain.data());
  to_format(plain.data(), data, b.dtype, b.shape, b.format);
}

}  // namespace

const Region& InputSource::region(const Key& key, const Program::Buffer& b, Layout layout) {
  const auto [it, is_new] = regions_.try_emplace(key);
  if (is_new) {
    it->second = arena_->allocate(b.bytes, size_of(b.dtype), layout);
    fill_slack(it->second.data, b.bytes, kInputSlack);
    arena_->publish(it->second);
  }
  return it->second;
}

OperandRegions InputSource::operand_regions(const Program& program, Layout layout, int slots, int copies) {
  const std::lock_guard lock(mutex_);
  OperandRegions made;
  made.layout = layout;
  made.inputs.resize(static_cast<size_t>(slots));
  for (size_t slot = 0; slot < made.inputs.size(); ++slot) {
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const Program::Buffer& b = program.buffers[static_cast<size_t>(program.inputs[i])];
      made.inputs[slot].push_back(region({false, static_cast<int>(layout), slot, source_of(b, i), b.format, b.bytes, static_cast<int>(b.dtype)}, b, layout));
    }
  }
  made.weights.resize(static_cast<size_t>(copies));
  for (size_t copy = 0; copy < made.weights.size(); ++copy) {
    for (const Program::Buffer& b : program.buffers) {
      if (!is_seeded(b)) continue;
      const Layout at = layout_of_weight(b.bytes, layout);
      made.weights[copy].push_back(region({true, static_cast<int>(at), copy, b.source, b.format, b.bytes, static_cast<int>(b.dtype)}, b, at));
    }
  }
  return made;
}

void InputSource::draw_inputs(const Program& program, const OperandRegions& operands, size_t slot, const Draw& draw) {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Program::Buffer& b = program.buffers[static_cast<size_t>(program.inputs[i])];
    const int source = source_of(b, i);
    const InputRange range = static_cast<size_t>(source) < ranges_.size() ? ranges_[static_cast<size_t>(source)] : InputRange{};
    fill_stored(b, operands.inputs[slot][i].data, [&](std::byte* plain) { fill_input(plain, b.dtype, b.shape, draw, source, range); });
    arena_->publish(operands.inputs[slot][i]);
  }
}

std::vector<Tensor> InputSource::inputs(const Program& program, const OperandRegions& operands, size_t slot) const {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Program::Buffer& b = program.buffers[static_cast<size_t>(program.inputs[i])];
    const auto source = static_cast<size_t>(source_of(b, i));
    std::byte* plain;
    Tensor t = Tensor::allocate(b.dtype, b.shape, &plain);
    const std::byte* stored = operands.inputs[slot][i].data;
    if (b.format.empty()) std::memcpy(plain, stored, b.bytes);
    else from_format(stored, plain, b.dtype, b.shape, b.format);
    tensors.resize(std::max(tensors.size(), source + 1));
    tensors[source] = std::move(t);
  }
  return tensors;
}

void InputSource::draw_weights(const Program& program, const OperandRegions& operands, const Draw& draw) {
  const std::lock_guard lock(mutex_);
  for (size_t copy = 0; copy < operands.weights.size(); ++copy) {
    size_t w = 0;
    for (const Program::Buffer& b : program.buffers) {
      if (!is_seeded(b)) continue;
      const Region& region = operands.weights[copy][w];
      const std::string what = fmt::format("{} {} {}", how_weights_are_drawn(draw), b.mean, b.deviation);
      std::string& held = held_[region.data];
      if (held != what) {
        held = what;
        // Copies need other addresses, not other numbers.
        if (copy > 0) std::memcpy(region.data, operands.weights[0][w].data, b.bytes);
        else fill_stored(b, region.data, [&](std::byte* plain) { fill_weight(plain, b.dtype, numel(b.shape), b.mean, b.deviation, draw, b.source); });
        arena_->publish(region);
      }
      ++w;
    }
  }
}

void InputSource::new_pool(uint64_t seed) {
  pool_seed_ = seed;
  pools_.clear();
}

const std::byte* InputSource::pool(DType dtype, Distribution distribution, size_t at_least) {
  const size_t bytes = at_least * size_of(dtype);
  // Where it is there it is only read: several threads cut from it.
  if (const auto known = pools_.find(dtype); distribution == pool_distribution_ && known != pools_.end() && known->second.size() >= bytes)
    return known->second.data();
  if (distribution != pool_distribution_) pools_.clear();
  pool_distribution_ = distribution;
  std::vector<std::byte>& pool = pools_[dtype];
  pool.resize(bytes);
  Draw draw;
  draw.distribution = distribution;
  draw.seed = pool_seed_;
  // Element i depends on i alone: a longer pool begins as the shorter one.
  fill_input(pool.data(), dtype, {static_cast<int64_t>(at_least)}, draw, 0, {});
  return pool.data();
}

// Copied, because to draw them would take longer than to time them.
void InputSource::cut_from_pool(const Program::Buffer& b, std::byte* data, Distribution distribution, size_t beginning) {
  const auto n = static_cast<size_t>(numel(b.shape));
  to_format(pool(b.dtype, distribution, n + kBeginnings) + beginning * size_of(b.dtype), data, b.dtype, b.shape, b.format);
}

void InputSource::fresh_inputs(const Program& program, const OperandRegions& operands, size_t slot, Distribution distribution, Random& random) {
  Draw draw;
  draw.distribution = distribution;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Program::Buffer& b = program.buffers[static_cast<size_t>(program.inputs[i])];
    const Region& region = operands.inputs[slot][i];
    const int source = source_of(b, i);
    const InputRange range = static_cast<size_t>(source) < ranges_.size() ? ranges_[static_cast<size_t>(source)] : InputRange{};
    draw.seed = random.next() >> 1;
    if (is_float(b.dtype)) cut_from_pool(b, region.data, distribution, draw.seed % kBeginnings);
    else fill_stored(b, region.data, [&](std::byte* plain) { fill_input(plain, b.dtype, b.shape, draw, source, range); });
    arena_->publish(region);
  }
}

}  // namespace amdahl
