#include "plan/huge_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace amdahl {
namespace {

TEST(HugePages, HandsOutZeroedLinesThatDoNotOverlap) {
  HugePages pages;
  std::byte* before = nullptr;
  size_t bytes_before = 0;
  // Small ones share a slab; 20 MiB is more than one.
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{100000}, size_t{9} << 20, size_t{9} << 20, size_t{20} << 20, size_t{5}}) {
    std::byte* data = pages.take(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    EXPECT_TRUE(std::all_of(data, data + bytes, [](std::byte b) { return b == std::byte{0}; })) << bytes;
    std::memset(data, 0xff, bytes);
    if (before) {
      EXPECT_TRUE(data >= before + bytes_before || data + bytes <= before);
    }
    before = data;
    bytes_before = bytes;
  }
}

TEST(HugePages, BuffersOfTheSizeOfWeightsStartInOnePage) {
  HugePages pages;
  const std::byte *a = pages.take(size_t{1} << 20), *b = pages.take(size_t{1} << 20);
  EXPECT_EQ(b - a, int64_t{1} << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % (size_t{2} << 20), 0u);
}

}  // namespace
}  // namespace amdahl
