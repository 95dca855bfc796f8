#pragma once
// Reproducible random streams: the same seed gives the same numbers on every machine, process and thread count.
// splitmix64 (Steele, Lea, Flood 2014): one multiply-xor chain an output, any 64-bit seed is a good seed.

#include <cmath>
#include <cstdint>

namespace amdahl {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }
  // Uniform in [0, n). The bias of n/2^64 does not matter here.
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64); }
  // Standard normal (Box-Muller, one of the pair).
  double normal() {
    const double u = 1.0 - uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * uniform());
  }
  uint64_t state() const { return state_; }

 private:
  uint64_t state_;
};

}  // namespace amdahl
