#include "graph/ops/sum_growth.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/op.h"

namespace amdahl {
namespace {

// A hash table by open addressing, kept from one row to the next: to sort each row would cost more than its sum.
class Groups {
 public:
  // Sum of the squares of how often each term of at least `smallest` occurs.
  double squares(std::span<const double> terms, double smallest, double u) {
    const size_t slots = std::bit_ceil(2 * terms.size());
    slots_.assign(slots, {});
    double squares = 0;
    for (double term : terms) {
      if (std::fabs(term) < smallest) continue;
      const auto key = std::bit_cast<uint64_t>(u < kU32 ? term : static_cast<double>(static_cast<float>(term)));
      size_t at = (key * 0x9e3779b97f4a7c15ull >> 32) & (slots - 1);
      while (slots_[at].count > 0 && slots_[at].key != key) at = (at + 1) & (slots - 1);
      slots_[at].key = key;
      squares += 2.0 * static_cast<double>(slots_[at].count++) + 1;  // (m + 1)^2 - m^2
    }
    return squares;
  }

 private:
  struct Slot {
    uint64_t key = 0, count = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace

double sum_growth(std::span<const double> terms, double u) {
  static thread_local Groups groups;
  const auto n = static_cast<double>(terms.size());
  const double independent = 3.0 * std::sqrt(n);
  double magnitude = 0;
  for (double term : terms) magnitude += std::fabs(term);
  if (!(magnitude > 0 && magnitude < HUGE_VAL)) return independent;
  const double unit = u * magnitude, smallest = 4 * unit;
  double lost = 0;
  for (double term : terms)
    if (std::fabs(term) < smallest) lost += std::min(std::fabs(term) / unit, 1.0);
  return std::max(independent, std::min(n, 3.0 * std::sqrt(groups.squares(terms, smallest, u)) + lost));
}

}  // namespace amdahl
