// What the library of an emulated text calls: the words of language/cuda.h and language/mma.h, and what -fsanitize=thread, alignment and bounds put before
// each access. The run-time of those sanitizers is not linked; these stand for it.

#include "tests/emulated_card/called_by_kernels.h"

#include <cstddef>

#include "tests/emulated_card/emulated_card.h"

using amdahl::testing::EmulatedCard;
using amdahl::testing::Touch;

namespace {

EmulatedCard& card() { return EmulatedCard::running(); }

}  // namespace

extern "C" {

Dimensions threadIdx, blockIdx, blockDim, gridDim;

int emulated_barrier(int said) { return card().block().barrier(said != 0); }
const void* emulated_exchange(unsigned mask, const void* shown, unsigned long bytes) { return card().block().exchange(mask, shown, bytes); }
void emulated_warp_barrier() { card().block().exchange(~0u, nullptr, 0, /*orders=*/true); }
unsigned emulated_lane() { return card().block().lane(); }
void emulated_fault(const char* why) { card().block().fault(why); }
void emulated_atomic(const void* address, unsigned long bytes) { card().touch(address, bytes, Touch::kAtomic); }
void emulated_copy(void* to, const void* from, int bytes, int real) {
  card().begin_copy({static_cast<std::byte*>(to), static_cast<const std::byte*>(from), static_cast<size_t>(bytes), static_cast<size_t>(real)});
}
void emulated_end_group() { card().end_group(); }
void emulated_wait_for_groups(int newest) { card().wait_for_groups(static_cast<size_t>(newest)); }
void* emulated_dynamic_shared() { return card().dynamic_shared(); }

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}

#define AMDAHL_ACCESS(bytes)                                                           \
  void __tsan_read##bytes(void* p) { card().touch(p, bytes, Touch::kRead); }           \
  void __tsan_write##bytes(void* p) { card().touch(p, bytes, Touch::kWrite); }         \
  void __tsan_unaligned_read##bytes(void* p) { card().touch(p, bytes, Touch::kRead); } \
  void __tsan_unaligned_write##bytes(void* p) { card().touch(p, bytes, Touch::kWrite); }
AMDAHL_ACCESS(1)
AMDAHL_ACCESS(2)
AMDAHL_ACCESS(4)
AMDAHL_ACCESS(8)
AMDAHL_ACCESS(16)
#undef AMDAHL_ACCESS
void __tsan_read_range(void* p, unsigned long bytes) { card().touch(p, bytes, Touch::kRead); }
void __tsan_write_range(void* p, unsigned long bytes) { card().touch(p, bytes, Touch::kWrite); }

void __ubsan_handle_type_mismatch_v1(void*, unsigned long) { card().block().fault("an address is not aligned as its type is"); }
void __ubsan_handle_out_of_bounds(void*, unsigned long) { card().block().fault("an index is outside its array"); }
}
