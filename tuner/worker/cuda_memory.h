#pragma once
// Memory of a card for one buffer, between guards or not.

#include <cstddef>

#include "base/cuda/driver.h"

namespace amdahl {

class CudaMemory {
 public:
  enum class Guard {
    kNone,   // where it is timed: it was judged between guards before
    kFront,  // the first byte is the first that is mapped
    kBack,   // the last byte is less than 64 away from the last that is mapped
  };
  // `front` and `back`: bytes beside the data that belong to it as well, as far as the guard leaves room. Throws what cuda::check() throws.
  CudaMemory(size_t bytes, size_t front, size_t back, Guard guard);
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;

  cuda::Address data() const { return data_; }    // for kernels; 64-byte aligned
  cuda::Address alias() const { return alias_; }  // the same memory, always writable
  size_t front() const { return front_; }         // bytes beside the data that are there
  size_t back() const { return back_; }
  void allow_writes(bool allowed) const;  // of kernels; without effect where there is no guard

 private:
  cuda::Address map(cuda::Address* reserved) const;

  size_t span_ = 0, front_, back_;  // span_: of the mapped memory
  cuda::MemoryHandle handle_ = 0;
  cuda::Address plain_ = 0, reserved_ = 0, reserved_alias_ = 0, data_ = 0, alias_ = 0;
};

}  // namespace amdahl
