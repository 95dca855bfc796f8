#pragma once
// Padding and edits move code, and with it the numbers that branches and operands count: once in some 70 kernels one of them then reads as a call of the system, and
// the scan of machine code (starter_kernels/toolchain/machine_code.h) refuses a text that is honest. A study of times draws such a text again, and counts it.

#include <functional>
#include <string>

#include "base/error.h"

namespace amdahl::trust {

class RefusedByScan : public Error {
 public:
  explicit RefusedByScan(const std::string& reason) : Error(ExitCode::kInternal, reason) {}
};

// Calls `attempt`, which draws what it needs, until it is not refused. Returns how often it was. Refused eight times in a row it throws the last RefusedByScan: that is no
// chance any more.
inline int drawn_again(const std::function<void()>& attempt) {
  constexpr int kMost = 8;
  for (int refused = 0;; ++refused) try {
      attempt();
      return refused;
    } catch (const RefusedByScan&) {
      if (refused + 1 == kMost) throw;
    }
}

}  // namespace amdahl::trust
