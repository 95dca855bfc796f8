#include "plan/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace amdahl {

std::vector<int64_t> assign_offsets(const std::vector<Lifetime>& lifetimes, size_t* arena_bytes) {
  const auto rounded = [](size_t bytes) { return static_cast<int64_t>((bytes + 63) / 64 * 64); };
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<int64_t> offset(lifetimes.size(), 0);
  std::vector<size_t> placed;  // sorted by offset
  int64_t end = 0;
  for (size_t i : order) {
    int64_t at = 0;
    for (size_t p : placed) {
      if (lifetimes[p].last < lifetimes[i].first || lifetimes[i].last < lifetimes[p].first) continue;
      if (offset[p] >= at + rounded(lifetimes[i].bytes)) break;  // fits before p
      at = std::max(at, offset[p] + rounded(lifetimes[p].bytes));
    }
    offset[i] = at;
    end = std::max(end, at + rounded(lifetimes[i].bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i, [&](size_t a, size_t b) { return offset[a] < offset[b]; }), i);
  }
  *arena_bytes = static_cast<size_t>(end);
  return offset;
}

}  // namespace amdahl
