#include <algorithm>

#include "plan/fusion.h"

namespace amdahl {
namespace {

// One run of space B: `size` points that are `view` apart in the common tensor and `operand` apart in the other.
struct Run {
  int64_t size, view, operand;
};

// B's dimensions, outermost in the common tensor first, merged where both tensors run on. Empty optional: some element is seen
// twice, or runs overlap.
std::optional<std::vector<Run>> runs_of(const Access& view, const Access& operand) {
  std::vector<Run> runs;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) continue;
    if (view.strides[d] <= 0) return std::nullopt;
    runs.push_back({view.shape[d], view.strides[d], operand.strides[d]});
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.view > b.view; });
  std::vector<Run> merged;
  for (const Run& r : runs) {
    if (!merged.empty() && merged.back().view < r.view * r.size) return std::nullopt;
    if (!merged.empty() && merged.back().view == r.view * r.size && merged.back().operand == r.operand * r.size)
      merged.back() = {merged.back().size * r.size, r.view, r.operand};
    else merged.push_back(r);
  }
  return merged;
}

}  // namespace

std::optional<Access> carry_over(const Access& view, const Access& operand, const Access& target) {
  const auto runs = runs_of(view, operand);
  if (!runs) return std::nullopt;
  Access result{operand.dtype, target.shape, Shape(target.shape.size(), 0), operand.offset, operand.constant};
  std::vector<int64_t> furthest(runs->size(), 0);  // the last point of each run that A reaches

  int64_t rest = target.offset - view.offset;
  if (rest < 0) return std::nullopt;
  for (size_t r = 0; r < runs->size(); ++r) {
    furthest[r] = rest / (*runs)[r].view;
    result.offset += furthest[r] * (*runs)[r].operand;
    rest %= (*runs)[r].view;
  }
  if (rest != 0) return std::nullopt;
  for (size_t d = 0; d < target.shape.size(); ++d) {
    if (target.shape[d] == 1 || target.strides[d] == 0) continue;
    if (target.strides[d] < 0) return std::nullopt;
    rest = target.strides[d];
    for (size_t r = 0; r < runs->size(); ++r) {
      const int64_t step = rest / (*runs)[r].view;
      rest %= (*runs)[r].view;
      furthest[r] += step * (target.shape[d] - 1);
      result.strides[d] += step * (*runs)[r].operand;
    }
    if (rest != 0) return std::nullopt;
  }
  // A carry from one run into the next would leave the straight line.
  for (size_t r = 0; r < runs->size(); ++r)
    if (furthest[r] >= (*runs)[r].size) return std::nullopt;
  return result;
}

}  // namespace amdahl
