// A file in memory is mapped on whole huge pages, twice, and both see the same bytes; what cannot be mapped is refused, not half done.

#include "tuner/worker/huge_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace amdahl {
namespace {

constexpr size_t kBytes = 3 * kHugePage;

bool is_aligned(const std::byte* p) { return reinterpret_cast<uintptr_t>(p) % kHugePage == 0; }

TEST(HugeFile, IsSharedByItsMappings) {
  const int file = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  const FileMapping written = map_on_huge_pages(file, 0, kBytes, PROT_READ | PROT_WRITE);
  ASSERT_NE(written.first, nullptr);
  EXPECT_TRUE(is_aligned(written.first));
  join_pages(written.first, kBytes);
  EXPECT_TRUE(std::all_of(written.first, written.first + kBytes, [](std::byte b) { return b == std::byte{0}; }));
  for (size_t i = 0; i < kBytes; i += 4096) written.first[i] = static_cast<std::byte>(i / 4096 % 251);

  const FileMapping second = map_on_huge_pages(file, kHugePage, kHugePage, PROT_READ);  // from the second huge page on
  ASSERT_NE(second.first, nullptr);
  EXPECT_TRUE(is_aligned(second.first));
  EXPECT_TRUE(std::equal(second.first, second.first + kHugePage, written.first + kHugePage));
  EXPECT_EQ(munmap(second.reserved, second.span), 0);
  EXPECT_EQ(munmap(written.reserved, written.span), 0);
  close(file);
}

TEST(HugeFile, IsRefusedWhole) {
  const FileMapping none = map_on_huge_pages(-1, 0, kHugePage, PROT_READ);
  EXPECT_EQ(none.first, nullptr);
  EXPECT_EQ(none.span, 0u);
}

}  // namespace
}  // namespace amdahl
