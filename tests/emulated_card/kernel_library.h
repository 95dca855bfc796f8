#pragma once
// A card's text as g++ has compiled it (emulated_toolchain.h), in this process: its kernels as functions, and the tables that say how they are launched.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/cuda/cubin.h"

namespace amdahl::testing {

// The parameter is a reference to Operands of starter_kernels/cuda/kernels/prelude.h.
using KernelFunction = void (*)(const void* operands);

class KernelLibrary {
 public:
  // Throws Error(kInternal) for what is no such library.
  explicit KernelLibrary(const std::string& path);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;

  const std::vector<cuda::Launch>& launches() const { return launches_; }
  const std::vector<cuda::Pack>& packs() const { return packs_; }
  uint64_t workspace_bytes() const { return workspace_bytes_; }
  // Throws Error(kInternal) where the text has none of that number.
  KernelFunction function(const cuda::Launch& launch) const;

  // Shared memory of a block whose size the text states, of all its kernels: a text has no other variables.
  std::byte* shared() const { return shared_; }
  size_t shared_bytes() const { return shared_bytes_; }
  // What the text itself brings: tables of constants.
  bool holds(const void* address) const { return address >= first_ && address < first_ + bytes_; }

 private:
  void* handle_ = nullptr;
  std::byte* first_ = nullptr;
  size_t bytes_ = 0;
  std::byte* shared_ = nullptr;
  size_t shared_bytes_ = 0;
  std::vector<cuda::Launch> launches_;
  std::vector<cuda::Pack> packs_;
  uint64_t workspace_bytes_ = 0;
};

}  // namespace amdahl::testing
