#pragma once
// What a worker needs of a device beyond running kernels (plan/device.h), because it trusts none of them: the supervisor's operands and memory of
// its own, each between guards, and code that is loaded once and never goes away.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "plan/device.h"
#include "tuner/worker/layout.h"

namespace amdahl {

// Memory of one buffer. A kernel that reads or writes past an end of it is stopped by the first byte, and the worker's last words name the buffer
// (tuner/worker/named_addresses.h).
class GuardedBuffer {
 public:
  virtual ~GuardedBuffer() = default;
  virtual std::byte* data() const = 0;  // the device's address
  virtual size_t bytes() const = 0;
  // Of memory of the worker's own: from now on a write of a kernel's is a fault (false) or none, until it is told otherwise.
  virtual void allow_writes(bool allowed) = 0;
  // Of memory of the worker's own: nothing was written beside the data.
  virtual bool intact() const = 0;
  // Of a region of the supervisor's, where the device has memory of its own: what the supervisor has put there goes to the device, before a call, and
  // what calls have left there comes back, slack and all. Without effect where both share pages.
  virtual void take() {}
  virtual void deliver() {}
  // Of such a region that kernels only read: the device's memory still holds what it was given last.
  virtual bool is_as_taken() const { return true; }
};

// Which of the supervisor's arenas an operand lies in. Those for reading are written by nobody here: what forbids it is not the worker.
enum class Operands { kRead, kWritten };

class WorkerDevice {
 public:
  virtual ~WorkerDevice() = default;
  virtual Device& device() = 0;
  // Whether calls in a row are prepared as one program of the device's, timed by its own clock: no code of a candidate's runs on the host there, so what
  // the worker says of its time is this program's word.
  virtual bool has_clock() const { return false; }
  // Runs `task` on every thread of this process that kernels run on; on none where they run elsewhere. Returns when all have done it, and leaves
  // them awake for what comes.
  virtual void on_kernel_threads(const std::function<void()>& task) = 0;

  // Throws Error(kIo) when the machine would not let this artifact be loaded, whatever is in it. Runs none of its code.
  virtual void require_loadable(const std::string& artifact) = 0;
  // Loads it for good, which may run its code: threads that a candidate leaves behind must be found, not crash in code that is gone.
  // Throws Error(kInternal).
  virtual void keep_loaded(const std::string& artifact) = 0;

  // What is allocated from now on lies elsewhere: `seed` says where. Without effect where a process has its own layout from its start.
  virtual void displace(uint64_t) {}

  // The first `bytes` of the constants that the supervisor shares (tuner/worker/constants_file.h), as kernels may read them. The address holds until
  // more are asked for.
  virtual const std::byte* constants(size_t bytes) = 0;
  // The region at `at` of an arena, made with the same bytes, element and layout. Both throw std::bad_alloc when memory is refused.
  virtual std::unique_ptr<GuardedBuffer> map(const std::string& name, size_t bytes, size_t element, Layout layout, Operands operands, int64_t at) = 0;
  // Memory of its own. `element` is the element's size: data() is aligned to it in every layout.
  virtual std::unique_ptr<GuardedBuffer> allocate(const std::string& name, size_t bytes, size_t element, Layout layout) = 0;
};

}  // namespace amdahl
