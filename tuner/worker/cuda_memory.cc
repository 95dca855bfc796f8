#include "tuner/worker/cuda_memory.h"

#include <algorithm>

#include "tuner/worker/pages.h"

namespace amdahl {
namespace {

using cuda::check;
using cuda::driver;
using cuda::kGranule;

constexpr size_t kAlignment = 64;

}  // namespace

CudaMemory::CudaMemory(size_t bytes, size_t front, size_t back, Guard guard) : front_(front), back_(back) {
  const size_t before = up(front, kAlignment), data = std::max<size_t>(bytes, 1);
  if (guard == Guard::kNone) {
    check(driver().allocate(&plain_, before + data + back), "cuMemAlloc");
    data_ = alias_ = plain_ + before;
    return;
  }
  span_ = up(before + up(data, kAlignment) + back, kGranule);
  cuda::MemoryProperties properties;
  check(driver().create_memory(&handle_, span_, &properties, 0), "cuMemCreate");
  const size_t at = guard == Guard::kBack ? span_ - up(data, kAlignment) : before;
  if (guard == Guard::kBack) back_ = std::min(back, up(data, kAlignment) - bytes);
  data_ = map(&reserved_) + at;
  alias_ = map(&reserved_alias_) + at;
}

// At addresses of its own, with unmapped ones on either side.
cuda::Address CudaMemory::map(cuda::Address* reserved) const {
  check(driver().reserve_addresses(reserved, span_ + 2 * kGranule, kGranule, 0, 0), "cuMemAddressReserve");
  check(driver().map(*reserved + kGranule, span_, 0, handle_, 0), "cuMemMap");
  const cuda::MemoryAccess access;
  check(driver().set_access(*reserved + kGranule, span_, &access, 1), "cuMemSetAccess");
  return *reserved + kGranule;
}

CudaMemory::~CudaMemory() {
  if (plain_) driver().release(plain_);
  for (const cuda::Address reserved : {reserved_, reserved_alias_}) {
    if (!reserved) continue;
    driver().unmap(reserved + kGranule, span_);
    driver().release_addresses(reserved, span_ + 2 * kGranule);
  }
  if (handle_) driver().release_memory(handle_);
}

void CudaMemory::allow_writes(bool allowed) const {
  if (plain_) return;
  cuda::MemoryAccess access;
  access.flags = allowed ? cuda::MemoryAccess::kReadWrite : cuda::MemoryAccess::kRead;
  check(driver().set_access(reserved_ + kGranule, span_, &access, 1), "cuMemSetAccess");
}

}  // namespace amdahl
