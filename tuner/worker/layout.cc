#include "tuner/worker/layout.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tuner/worker/huge_file.h"
#include "tuner/worker/pages.h"

namespace amdahl {
namespace {

// From here on buffers fill huge pages. A model's activations share an arena of them; in 4 KiB pages the same window's operands take 32
// entries and more of a first-level TLB of 64, and lie in the sets of L2 as chance has it, process by process.
constexpr size_t kWorthHuge = size_t{128} << 10;

constexpr size_t kLargeWeight = size_t{8} << 20;

// Bytes in front of and behind the data in the data's own pages.
std::pair<size_t, size_t> slack_of(const std::byte* data, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(data), end = first + bytes;
  return {first % kPage, up(std::max(end, first + 1), kPage) - end};
}

}  // namespace

Layout layout_of_weight(size_t bytes, Layout layout) { return layout != Layout::kModel && bytes > kLargeWeight ? Layout::kEnd : layout; }

Placement placement(size_t bytes, size_t element, Layout layout) {
  Placement p;
  const size_t shift = layout == Layout::kShift ? up(20, std::max<size_t>(element, 1)) : 0;
  p.huge = layout == Layout::kModel && bytes >= kWorthHuge;
  p.pages = up(std::max<size_t>(bytes + shift, 1), p.huge ? kHugePage : kPage);
  // What is empty lies within its page too: its slack is what is cleared and looked at.
  p.offset = layout == Layout::kEnd ? p.pages - std::max({bytes, element, size_t{1}}) : shift;
  return p;
}

void fill_slack(std::byte* data, size_t bytes, std::byte pattern) {
  const auto [front, behind] = slack_of(data, bytes);
  std::memset(data - front, static_cast<int>(pattern), front);
  std::memset(data + bytes, static_cast<int>(pattern), behind);
}

bool slack_intact(const std::byte* data, size_t bytes, std::byte pattern) {
  const auto [front, behind] = slack_of(data, bytes);
  const auto is_pattern = [&](std::byte b) { return b == pattern; };
  return std::all_of(data - front, data, is_pattern) && std::all_of(data + bytes, data + bytes + behind, is_pattern);
}

}  // namespace amdahl
