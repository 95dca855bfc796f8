#include "tuner/worker/early_digest.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/random.h"

namespace amdahl {
namespace {

constexpr size_t kEnds = 4096, kLine = 64;
constexpr int kLines = 64;

}  // namespace

uint64_t early_digest(size_t bytes, uint64_t seed, const ReadAt& read) {
  uint64_t digest = seed;
  std::array<std::byte, kEnds> part;
  const auto take = [&](size_t at, size_t n) {
    read(at, {part.data(), n});
    digest ^= hash64({reinterpret_cast<const char*>(part.data()), n});
    digest = Random(digest).next();
  };
  const size_t ends = std::min(bytes, kEnds);
  take(bytes - ends, ends);
  if (bytes <= kEnds) return digest;
  take(0, ends);
  Random places(seed);
  for (int i = 0; i < kLines; ++i) take(places.below(bytes - kLine + 1), kLine);
  return digest;
}

uint64_t early_digest(std::span<const std::byte> output, uint64_t seed) {
  return early_digest(output.size(), seed, [&](size_t at, std::span<std::byte> to) { std::copy_n(output.data() + at, to.size(), to.begin()); });
}

}  // namespace amdahl
