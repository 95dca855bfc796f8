// What workers are fed with: the numbers that were drawn, in the format and at the place that a program wants.

#include "tuner/validation/input_source.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "tests/distant/distant_backend.h"
#include "tuner/worker/guarded_memory.h"
#include "tuner/worker/host_arena.h"

namespace amdahl {
namespace {

Program program_with_input(int64_t n) {
  Program p;
  Program::Buffer in, weight;
  in.name = "x";
  in.shape = {n};
  in.role = Program::Role::kInput;
  in.bytes = static_cast<size_t>(n) * sizeof(float);
  in.source = 0;
  weight = in;
  weight.name = "w";
  weight.role = Program::Role::kConstant;
  p.buffers = {in, weight};
  p.inputs = {0};
  return p;
}

InputSource on_host() { return InputSource({}, std::make_unique<HostArena>("test")); }

const float* floats(const Region& region) { return reinterpret_cast<const float*>(region.data); }

TEST(InputSource, ANudgedDrawDiffersInOneElementThatIsNeitherFirstNorLast) {
  for (int64_t n : {3, 64, 1000}) {
    const Program p = program_with_input(n);
    InputSource input_source = on_host();
    const OperandRegions operands = input_source.operand_regions(p, Layout::kEnd, 2, 1);
    Draw draw;
    draw.seed = 7;
    input_source.draw_inputs(p, operands, 0, draw);
    draw.perturbed = true;
    input_source.draw_inputs(p, operands, 1, draw);
    std::vector<int64_t> different;
    for (int64_t i = 0; i < n; ++i)
      if (floats(operands.inputs[0][0])[i] != floats(operands.inputs[1][0])[i]) different.push_back(i);
    ASSERT_EQ(different.size(), 1u) << n;
    EXPECT_GT(different[0], 0);
    EXPECT_LT(different[0], n - 1);
  }
}

TEST(InputSource, NoTwoCallsReadTheSameNumbers) {
  const Program p = program_with_input(256);
  InputSource input_source = on_host();
  const OperandRegions operands = input_source.operand_regions(p, Layout::kModel, 1, 1);
  Random random(3);
  std::set<std::vector<float>> seen;
  for (int call = 0; call < 200; ++call) {
    input_source.fresh_inputs(p, operands, 0, Distribution::kNormal, random);
    const float* x = floats(operands.inputs[0][0]);
    EXPECT_TRUE(seen.insert({x, x + 256}).second) << call;
  }
}

TEST(InputSource, FreshNumbersAreDistributedAsDrawnOnes) {
  const Program p = program_with_input(20000);
  InputSource input_source = on_host();
  const OperandRegions operands = input_source.operand_regions(p, Layout::kModel, 1, 1);
  Random random(3);
  input_source.fresh_inputs(p, operands, 0, Distribution::kNormal, random);
  double sum = 0, squares = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = floats(operands.inputs[0][0])[i];
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 20000, 0, 0.04);
  EXPECT_NEAR(squares / 20000, 1, 0.05);
}

TEST(InputSource, WeightsChangeInPlace) {
  const Program p = program_with_input(64);
  InputSource input_source = on_host();
  const OperandRegions operands = input_source.operand_regions(p, Layout::kEnd, 1, 2);
  Draw draw;
  input_source.draw_weights(p, operands, draw);
  const std::vector<float> first(floats(operands.weights[0][0]), floats(operands.weights[0][0]) + 64);
  EXPECT_EQ(std::memcmp(operands.weights[1][0].data, first.data(), 256), 0);  // copies: other addresses, equal numbers
  draw.ternary = true;
  input_source.draw_weights(p, operands, draw);
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(std::abs(floats(operands.weights[0][0])[i]) == 1 || floats(operands.weights[0][0])[i] == 0);
  draw.roles_swapped = true;
  draw.integer_bits = 6;
  input_source.draw_weights(p, operands, draw);
  for (int i = 0; i < 64; ++i) {
    const float w = std::abs(floats(operands.weights[0][0])[i]);
    EXPECT_TRUE(w >= 33 && w <= 63 && std::fmod(w, 2) == 1) << w;
  }
}

TEST(InputSource, ProgramsOfOneWindowShareRegions) {
  const Program p = program_with_input(64), q = p;
  InputSource input_source = on_host();
  const OperandRegions a = input_source.operand_regions(p, Layout::kModel, 3, 1), b = input_source.operand_regions(q, Layout::kModel, 3, 1),
                       c = input_source.operand_regions(q, Layout::kEnd, 1, 1);
  EXPECT_EQ(a.inputs[2][0].at, b.inputs[2][0].at);
  EXPECT_NE(a.inputs[0][0].at, c.inputs[0][0].at);
}

TEST(InputSource, NumbersBesideTheDataAreNaN) {
  const Program p = program_with_input(5);
  InputSource input_source = on_host();
  const OperandRegions operands = input_source.operand_regions(p, Layout::kShift, 1, 1);
  EXPECT_TRUE(std::isnan(floats(operands.inputs[0][0])[-1]));
  EXPECT_TRUE(std::isnan(floats(operands.inputs[0][0])[5]));
}

// The page of a small region as a worker maps it.
std::vector<std::byte> page_in_worker(const InputSource& input_source, const Region& region) {
  const auto* page = static_cast<const std::byte*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, input_source.arena().read_only(), region.at));
  std::vector<std::byte> seen(page, page + 4096);
  munmap(const_cast<std::byte*>(page), 4096);
  return seen;
}

std::vector<std::byte> page_here(const Region& region) {
  const std::byte* page = region.data - reinterpret_cast<uintptr_t>(region.data) % 4096;
  return {page, page + 4096};
}

TEST(InputSource, PublishesWhateverItWrites) {
  const Program p = program_with_input(64);
  InputSource input_source({}, testing::distant_backend().make_arena("test"));
  const OperandRegions operands = input_source.operand_regions(p, Layout::kEnd, 1, 2);
  const Region &input = operands.inputs[0][0], &weight = operands.weights[0][0], &copy = operands.weights[1][0];
  for (const Region* r : {&input, &weight, &copy}) EXPECT_EQ(page_in_worker(input_source, *r), page_here(*r));
  const auto changes = [&](const std::vector<const Region*>& regions, const std::function<void()>& write) {
    std::vector<std::vector<std::byte>> before;
    for (const Region* r : regions) before.push_back(page_here(*r));
    write();
    for (size_t i = 0; i < regions.size(); ++i) {
      EXPECT_NE(page_here(*regions[i]), before[i]);
      EXPECT_EQ(page_in_worker(input_source, *regions[i]), page_here(*regions[i]));
    }
  };
  Draw draw;
  Random random(3);
  changes({&input}, [&] { input_source.draw_inputs(p, operands, 0, draw); });
  changes({&weight, &copy}, [&] { input_source.draw_weights(p, operands, draw); });
  changes({&input}, [&] { input_source.fresh_inputs(p, operands, 0, Distribution::kNormal, random); });
}

TEST(HostArena, WhoMayOnlyReadCannotWrite) {
  HostArena arena("test");
  const Region region = arena.allocate(4096, 4, Layout::kModel);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, arena.read_only(), region.at), MAP_FAILED);
  void* view = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, arena.read_only(), region.at);
  ASSERT_NE(view, MAP_FAILED);
  EXPECT_NE(mprotect(view, 4096, PROT_READ | PROT_WRITE), 0);
  region.data[17] = std::byte{42};
  EXPECT_EQ(static_cast<const std::byte*>(view)[17], std::byte{42});
  munmap(view, 4096);
}

TEST(GuardedMemory, BytesLieWhereTheLayoutSays) {
  EXPECT_EQ(placement(100, 4, Layout::kEnd).offset, 4096u - 100);
  EXPECT_EQ(placement(100, 4, Layout::kStart).offset, 0u);
  EXPECT_EQ(placement(100, 4, Layout::kShift).offset, 20u);
  EXPECT_EQ(placement(100, 8, Layout::kShift).offset, 24u);
  EXPECT_EQ(placement(0, 4, Layout::kEnd).offset, 4096u - 4);  // not on the next page, which is somebody else's
}

TEST(GuardedMemory, WhatIsTimedFillsHugePagesFrom128KiBOn) {
  const Placement large = placement(size_t{128} << 10, 4, Layout::kModel), small = placement((size_t{128} << 10) - 4, 4, Layout::kModel);
  EXPECT_TRUE(large.huge);
  EXPECT_EQ(large.pages, size_t{2} << 20);
  EXPECT_EQ(placement((size_t{2} << 20) + 4, 4, Layout::kModel).pages, size_t{4} << 20);
  EXPECT_FALSE(small.huge);
  EXPECT_EQ(small.pages, size_t{128} << 10);
  for (const Layout judged : {Layout::kEnd, Layout::kStart, Layout::kShift}) EXPECT_FALSE(placement(size_t{4} << 20, 4, judged).huge);
}

TEST(GuardedMemory, SeesWhatWasWrittenBesideItAnywhereInItsPages) {
  const size_t bytes = size_t{300} << 10;
  for (const size_t beside : {bytes, bytes + 5000, (size_t{2} << 20) - 1}) {
    GuardedMemory memory("scratch", bytes, 64, Layout::kModel);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % (size_t{2} << 20), 0u);
    std::memset(memory.data(), 1, bytes);
    EXPECT_TRUE(memory.intact());
    memory.data()[beside] = std::byte{1};
    EXPECT_FALSE(memory.intact()) << beside;
  }
}

}  // namespace
}  // namespace amdahl
