#pragma once
// Copies to shared memory that a thread has begun and not waited for: nobody may look at their places before (cp.async).

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

namespace amdahl::testing {

struct BackgroundCopy {
  std::byte* to;
  const std::byte* from;
  size_t bytes, real;  // what is beyond `real` becomes zero
};

// Of one thread.
class BackgroundCopies {
 public:
  void begin(const BackgroundCopy& copy) { open_.push_back(copy); }
  void end_group();
  // Makes those of all groups but the newest.
  void wait(size_t newest, const std::function<void(const BackgroundCopy&)>& make);
  bool empty() const { return open_.empty() && groups_.empty(); }
  void clear();

 private:
  std::vector<BackgroundCopy> open_;
  std::deque<std::vector<BackgroundCopy>> groups_;
};

}  // namespace amdahl::testing
