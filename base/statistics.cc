#include "base/statistics.h"

#include <algorithm>

namespace amdahl {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return values.size() % 2 ? *half : (*std::max_element(values.begin(), half) + *half) / 2;
}

}  // namespace amdahl
