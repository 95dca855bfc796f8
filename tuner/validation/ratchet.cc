#include "tuner/validation/ratchet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/op.h"

namespace amdahl {

// Fused attention was refused for its largest error on needles, three times the starter's, where 35 of 393,216 elements decide; efficientnet's first region
// for ten times on the four numbers of a squeeze.
double luck_of(double elements) { return std::exp(4 / std::sqrt(std::max(1.0, elements))); }

std::optional<std::string> beyond_ratchet(double starter_rms_error, double starter_max_error, double times, const Discrepancy& d) {
  // Denormal numbers lie as far apart as they may be off.
  if (d.rms_value < 0x1.0p-120) return std::nullopt;
  if (!std::isfinite(times) || d.rms_bound <= 1e-4 * d.rms_value) return std::nullopt;
  const double allowed = times * luck_of(d.deciding), floor = 4 * times * kU32 * d.rms_value;
  if (d.rms_error > allowed * starter_rms_error + floor) return fmt::format("rms error {:.2g}, the starter's is {:.2g}", d.rms_error, starter_rms_error);
  // The largest of many: 4.3 times the rms of 50,000 normal errors, and ten times where their size differs by place, as in Winograd's tiles.
  if (d.max_error > allowed * starter_max_error + 6 * floor)
    return fmt::format("largest error {:.2g}, the starter's is {:.2g}", d.max_error, starter_max_error);
  return std::nullopt;
}

}  // namespace amdahl
