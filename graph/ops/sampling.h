#pragma once
// Images read between their elements (GridSample, RoiAlign): positions that floats decide, and what each element near one weighs there.

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/dtype.h"

namespace amdahl {

// A number on the way to a position, and how far the roundings of an honest computation may have it elsewhere.
struct Place {
  double at = 0, error = 0;

  double low() const { return at - error; }
  double high() const { return at + error; }
};

// Where a result of exact numbers is a number of fp32, an fp32 computation rounds nothing: a position that is a whole number or a half in each is known to be one.
class PlaceArithmetic {
 public:
  explicit PlaceArithmetic(DType dtype) : in_doubles_(dtype == DType::kF64), u_(in_doubles_ ? 0x1.0p-52 : 0x1.0p-24) {}
  double u() const { return u_; }

  Place sum(const Place& a, const Place& b) const { return rounded(a.at + b.at, a.error + b.error); }
  Place difference(const Place& a, const Place& b) const { return sum(a, {-b.at, b.error}); }
  Place product(const Place& a, const Place& b) const {
    return rounded(a.at * b.at, std::fabs(a.at) * b.error + std::fabs(b.at) * a.error + a.error * b.error);
  }
  // By an exact number that is not zero.
  Place quotient(const Place& a, double b) const { return rounded(a.at / b, a.error / std::fabs(b)); }

 private:
  Place rounded(double at, double error) const {
    const bool is_exact = error == 0 && !in_doubles_ && static_cast<double>(static_cast<float>(at)) == at;
    return {at, is_exact ? 0 : error + u_ * (std::fabs(at) + error)};
  }

  bool in_doubles_;
  double u_;
};

// An element along one dimension, inside of the image or not, and its part of the result, off by `slack` at most. Elements that have a part in some honest
// computations alone are among them.
struct SampleTap {
  int64_t at;
  double weight, slack;
};

// A position that may be off by as much says nothing: taps are asked for below it.
inline constexpr double kMostPlaceError = 0.5;

std::vector<SampleTap> linear_taps(const Place& place, double u);
std::vector<SampleTap> cubic_taps(const Place& place, double u);  // Keys' kernel with a = -0.75

// An element of the image: its weight is the product of one tap's in each dimension, and its magnitude lies between `least` and `most`.
struct SampledElement {
  int64_t at;
  double weight, least, most;
};

// Every choice of one tap for each dimension; `at` counts in rows of `sizes`. Taps whose `at` is negative have nothing to read and are left out.
std::vector<SampledElement> elements_of(std::span<const std::vector<SampleTap>> taps, std::span<const int64_t> sizes);

// A sum of elements by their weights.
class SampledSum {
 public:
  // An element whose value is off by `bound` at most.
  void add(const SampledElement& element, double value, double bound) {
    const double weight = std::fabs(element.weight);
    if (weight > 0) value_ += element.weight * value;
    if (!std::isfinite(value)) {
      is_open_ = is_open_ || element.least == 0;
    } else if (element.most > 0) {
      moved_ += (element.most - weight) * std::fabs(value) + element.most * bound;
      magnitude_ += element.most * (std::fabs(value) + bound);
    }
  }
  void move(double by) { moved_ += by; }  // further, for some other reason

  double value() const { return value_; }
  double magnitude() const { return magnitude_; }
  double moved() const { return moved_; }
  bool is_open() const { return is_open_; }  // what is not finite is multiplied by what may be zero

 private:
  double value_ = 0, magnitude_ = 0, moved_ = 0;
  bool is_open_ = false;
};

}  // namespace amdahl
