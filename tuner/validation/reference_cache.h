#pragma once
// Expected outputs of draws, kept because all candidates of a window are judged on the same ones.

#include <algorithm>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "tuner/validation/reference.h"

namespace amdahl {

// Holds `max_bytes` in all, the least recently used out first; of the window in hand up to `window_bytes`, though that is more. A candidate
// goes through its window's draws in the same order as the one before: where they do not all fit, the least recently used is the
// one that is wanted next, so there the most recently used goes (of 7 draws of softmax 4096 x 4096, 0.9 GiB, the former kept none).
class ReferenceCache {
 public:
  ReferenceCache(size_t max_bytes, size_t window_bytes) : max_bytes_(max_bytes), window_bytes_(std::max(max_bytes, window_bytes)) {}

  // `signature`: of the window; `make`: () -> Expected.
  template <typename Make>
  std::shared_ptr<const Expected> get(const std::string& signature, const ProductArithmetic& products, const Draw& draw, Make make) {
    const Key key{signature,         products.rounding, products.strassen,      static_cast<int>(draw.distribution),
                  draw.seed,         draw.weights_seed, draw.ternary,           draw.roles_swapped,
                  draw.integer_bits, draw.perturbed,    draw.infinities_as_nan, draw.scale,
                  draw.weights,      draw.turn};
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->key != key) continue;
      entries_.splice(entries_.begin(), entries_, it);
      return it->expected;
    }
    auto made = std::make_shared<const Expected>(make());
    const size_t bytes = made->bytes();
    entries_.push_front({key, made, bytes});
    bytes_ += bytes;
    forget_other_windows(signature);
    forget_newest_but_one();
    return made;
  }

  size_t bytes() const { return bytes_; }

 private:
  using Key = std::tuple<std::string, double, int, int, uint64_t, uint64_t, bool, bool, int, bool, bool, int, Weights,
                         int>;  // signature, ProductArithmetic, then as in Draw
  struct Entry {
    Key key;
    std::shared_ptr<const Expected> expected;
    size_t bytes;
  };
  using Place = std::list<Entry>::iterator;

  Place forget(Place at) {
    bytes_ -= at->bytes;
    return entries_.erase(at);
  }

  void forget_other_windows(const std::string& signature) {
    for (auto it = entries_.end(); bytes_ > max_bytes_ && it != entries_.begin();)
      if (--it; std::get<0>(it->key) != signature) it = forget(it);
  }

  void forget_newest_but_one() {
    while (bytes_ > window_bytes_ && entries_.size() > 1) forget(std::next(entries_.begin()));
  }

  size_t max_bytes_, window_bytes_, bytes_ = 0;
  std::list<Entry> entries_;  // the most recently used first
};

}  // namespace amdahl
