#include "tuner/worker/early_digest.h"

#include <algorithm>

#include "base/hash.h"
#include "base/random.h"

namespace amdahl {
namespace {

constexpr size_t kEnds = 4096, kLine = 64;
constexpr int kLines = 64;

}  // namespace

uint64_t early_digest(std::span<const std::byte> output, uint64_t seed) {
  uint64_t digest = seed;
  const auto take = [&](size_t at, size_t bytes) {
    digest ^= hash64({reinterpret_cast<const char*>(output.data()) + at, bytes});
    digest = Random(digest).next();
  };
  const size_t ends = std::min(output.size(), kEnds);
  take(output.size() - ends, ends);
  if (output.size() <= kEnds) return digest;
  take(0, ends);
  Random places(seed);
  for (int i = 0; i < kLines; ++i) take(places.below(output.size() - kLine + 1), kLine);
  return digest;
}

}  // namespace amdahl
