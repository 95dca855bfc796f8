#pragma once
// Numbers of a computation whose results go into its next step, a hundred times over: what rounding in a step becomes in later ones.
//
// Worst cases multiply: an h of 128 units, each of them within e, may move a sum of 128 products by 128 times as much as it does, in the next step
// again, and a bound after 80 steps says nothing. So errors have two parts. `own` bounds what arose in this step, and is a worst case as everywhere. What
// earlier steps left is carried by probes: each takes a step's bounds with signs of its own for that step's errors, and goes with the
// computation as its derivatives move it (a secant over the whole error, so that a kink or a saturated gate counts). Three times their root mean square is
// what an honest computation stays within, if its roundings have signs like those of one of four sorts: the same in all units at all
// steps, in all units of a step, at all steps of a unit, or none the same. The largest counts.

#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "graph/ops/eval_support.h"
#include "graph/ops/precision.h"

namespace amdahl {

inline constexpr std::array<int, 4> kProbesOfSort{1, 4, 4, 7};
inline constexpr int kProbes = 16;

struct Carried {
  double value = 0;
  double own = 0;  // infinite: an honest computation may have anything here
  std::array<double, kProbes> probes{};

  double carried() const {
    const double plain = root_mean_square(1);
    if (plain > 1e-140 && plain < 1e140) return 3 * plain;
    double largest = 0;  // squares of doubles underflow, or overflow
    for (const double p : probes) largest = std::fmax(largest, std::fabs(p));
    return largest > 0 && largest < HUGE_VAL ? 3 * largest * root_mean_square(1 / largest) : 3 * largest;
  }
  double bound() const { return own + carried(); }
  bool is_open() const { return own == HUGE_VAL; }

 private:
  // Of the sort where it is largest, each times `scale`.
  double root_mean_square(double scale) const {
    double largest = 0;
    size_t p = 0;
    for (const int count : kProbesOfSort) {
      double squares = 0;
      for (int i = 0; i < count; ++i, ++p) squares += probes[p] * scale * probes[p] * scale;
      largest = std::fmax(largest, squares / count);
    }
    return std::sqrt(largest);
  }
};

class CarriedArithmetic {
 public:
  CarriedArithmetic(DType dtype, bool bounds) : sums_(sum_type(dtype)), bounds_(bounds) {}
  const SumType& sums() const { return sums_; }

  static Carried open() { return {1, HUGE_VAL, {}}; }
  // What is NaN in every order of arithmetic stays; what may leave the type may be anything. Where no bounds are asked for, values are as they come.
  Carried settled(const Carried& n, double magnitude = 0) const {
    if (!bounds_) return {n.value, 0, {}};
    if (std::isnan(n.value) && !n.is_open()) return {n.value, 0, {}};
    const double reach = std::fmax(std::fabs(n.value), magnitude) + n.bound();
    return reach < sums_.beyond ? n : open();
  }

  Carried product(const Carried& a, const Carried& b) const {
    Carried z{a.value * b.value, 0, {}};
    for (size_t p = 0; p < kProbes; ++p) z.probes[p] = a.value * b.probes[p] + b.value * a.probes[p] + a.probes[p] * b.probes[p];
    z.own = std::fabs(a.value) * b.own + std::fabs(b.value) * a.own + a.own * b.own + a.own * b.carried() + b.own * a.carried() + rounding(z.value);
    return settled(z);
  }

  Carried sum(const Carried& a, const Carried& b) const {
    Carried z{a.value + b.value, a.own + b.own, {}};
    for (size_t p = 0; p < kProbes; ++p) z.probes[p] = a.probes[p] + b.probes[p];
    z.own += rounding(z.value);
    return settled(z);
  }

  // (1 - w) a + w b, as it stands or as a + w (b - a): an error of w moves it by the difference alone.
  Carried blend(const Carried& w, const Carried& a, const Carried& b) const {
    const double rest = 1 - w.value, difference = b.value - a.value;
    Carried z{rest * a.value + w.value * b.value, 0, {}};
    for (size_t p = 0; p < kProbes; ++p) z.probes[p] = rest * a.probes[p] + w.value * b.probes[p] + w.probes[p] * (difference + b.probes[p] - a.probes[p]);
    z.own = std::fabs(rest) * a.own + std::fabs(w.value) * b.own + w.own * (std::fabs(difference) + a.bound() + b.bound()) + w.carried() * (a.own + b.own);
    z.own += 3 * (rounding((std::fabs(rest) + std::fabs(w.value)) * a.value) + rounding(w.value * b.value)) + rounding(z.value);
    return settled(z);
  }

  // f(a) where `f` is monotone between the turning points; own(x, |f|, u) is its rounding.
  template <typename F, typename Own>
  Carried applied(const Carried& a, F f, std::initializer_list<double> turning, Own own) const {
    const double x = a.value, e = a.bound();
    if (a.is_open()) return open();
    Carried z{f(x), 0, {}};
    double moved = 0;
    if (e > 0 && !std::isnan(z.value)) {
      const double low = f(x - e), high = f(x + e);
      moved = std::fmax(std::fabs(z.value - low), std::fabs(high - z.value));
      for (const double turn : turning)
        if (std::fabs(turn - x) < e) moved = std::fmax(moved, std::fabs(f(turn) - z.value));
      const double slope = std::copysign(moved / e, high - low);
      for (size_t p = 0; p < kProbes; ++p) z.probes[p] = slope * a.probes[p];
      z.own = std::fabs(slope) * a.own;
    }
    z.own += own(x, std::fabs(z.value) + moved, sums_.u);
    return settled(z);
  }

  // A step has ended: its own errors become one that is carried. `element` numbers the step's results.
  static void hand_on(Carried& n, uint64_t step, uint64_t element) {
    if (n.is_open() || n.own == 0) return;
    const uint64_t none = 0;
    const std::array<uint64_t, 4> keys{mixed(none, none), mixed(step, none), mixed(none, element), mixed(step, element)};
    size_t p = 0;
    for (size_t sort = 0; sort < keys.size(); ++sort)
      for (int i = 0; i < kProbesOfSort[sort]; ++i, ++p) n.probes[p] += (keys[sort] >> (p + 8) & 1) ? n.own : -n.own;
    n.own = 0;
  }

 private:
  double rounding(double z) const { return sums_.u * std::fabs(z) + (z == 0 ? 0 : sums_.flush); }
  static uint64_t mixed(uint64_t step, uint64_t element) {
    uint64_t z = (step + 1) * 0x9e3779b97f4a7c15ull ^ (element + 1) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  SumType sums_;
  bool bounds_;
};

}  // namespace amdahl
