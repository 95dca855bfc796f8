#include "tests/emulated_card/background_copies.h"

#include <utility>

namespace amdahl::testing {

void BackgroundCopies::end_group() { groups_.push_back(std::exchange(open_, {})); }

void BackgroundCopies::wait(size_t newest, const std::function<void(const BackgroundCopy&)>& make) {
  for (; groups_.size() > newest; groups_.pop_front())
    for (const BackgroundCopy& copy : groups_.front()) make(copy);
}

void BackgroundCopies::clear() {
  open_.clear();
  groups_.clear();
}

}  // namespace amdahl::testing
