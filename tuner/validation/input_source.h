#pragma once
// What workers are fed with: inputs and weights, made here, in memory that they can only read. Workers of both arms of a race
// read the same bytes. What is written to a region is published at once.
//
// Between timed calls the contents change: every call reads numbers that no call has read before, at addresses that are used
// again. A kernel that remembers results finds nothing to remember them by. They are cut from a pool of random numbers, which is drawn anew for every
// race: a kernel that knew another candidate's knows nothing.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/entropy.h"
#include "base/random.h"
#include "plan/program.h"
#include "tuner/validation/inputs.h"
#include "tuner/worker/arena.h"

namespace amdahl {

// The regions of one program: by slot and Program::inputs, by copy and seeded constant.
struct OperandRegions {
  Layout layout = Layout::kModel;
  std::vector<std::vector<Region>> inputs, weights;
  size_t slots() const { return inputs.size(); }
};

class InputSource {
 public:
  // `ranges` by Program::Buffer::source (by position for whole models). `arena`: of the backend whose workers are fed.
  InputSource(std::vector<InputRange> ranges, std::unique_ptr<Arena> arena) : ranges_(std::move(ranges)), arena_(std::move(arena)), pool_seed_(entropy()) {}

  const Arena& arena() const { return *arena_; }
  // This and draw_weights() may be called from several threads. Regions are made when new: programs of one window share them, operand by operand. Pages beside the data hold NaNs.
  OperandRegions operand_regions(const Program& program, Layout layout, int slots, int copies);
  void draw_inputs(const Program& program, const OperandRegions& operands, size_t slot, const Draw& draw);
  void draw_weights(const Program& program, const OperandRegions& operands, const Draw& draw);
  // What a slot's inputs hold, row-major, in the order of Program::Buffer::source (of their positions for whole models).
  std::vector<Tensor> inputs(const Program& program, const OperandRegions& operands, size_t slot) const;
  // What follows is cut from the pool that `seed` gives.
  void new_pool(uint64_t seed);
  // Numbers distributed as in `distribution`, not seen before. After a first call since new_pool() several threads may ask for slots of the same program.
  void fresh_inputs(const Program& program, const OperandRegions& operands, size_t slot, Distribution distribution, Random& random);

 private:
  using Key = std::tuple<bool, int, size_t, int, std::string, size_t, int>;  // weight, layout, slot or copy, source, format, bytes, dtype
  const Region& region(const Key& key, const Program::Buffer& b, Layout layout);
  const std::byte* pool(DType dtype, Distribution distribution, size_t at_least);
  void cut_from_pool(const Program::Buffer& b, std::byte* data, Distribution distribution, size_t beginning);

  std::mutex mutex_;
  std::vector<InputRange> ranges_;
  std::unique_ptr<Arena> arena_;
  std::map<Key, Region> regions_;
  std::map<const std::byte*, std::string> held_;  // what is drawn in a weight's region
  Distribution pool_distribution_ = Distribution::kNormal;
  uint64_t pool_seed_;
  std::map<DType, std::vector<std::byte>> pools_;  // each of numbers that are rounded to the type
};

}  // namespace amdahl
