// What cards of compute capability 9.0 have for products: copies by the block, barriers that count bytes, and multiplications of four warps together whose
// operands lie in shared memory. HALF is "f16" or "bf16".
//
// A tile of an operand has lines of 64 numbers (128 bytes) along K; of line r the 16 bytes c lie at c ^ (r % 8), so that neither those who write lines nor
// the tensor cores, which read columns of 16 bytes, meet in a bank (PTX ISA, "Matrix fragments for wgmma", swizzle of 128 bytes). Tiles begin at
// multiples of 1024 bytes.

// A barrier in shared memory: a phase ends when as many threads as `threads` have arrived and all bytes that they announced are there.
static inline void make_barrier(uint64_t* barrier, int threads) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(threads) : "memory");
}
// What threads wrote to shared memory is seen by copies and multiplications that follow.
static inline void show_shared_writes() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static inline void arrive_and_expect(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
// The n-th phase, counted from 0, has parity n % 2.
static inline void wait_for_phase(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(shared_address(barrier)), "r"(parity)
      : "memory");
}
// A multiple of 16 bytes, by one thread; both addresses are as even.
static inline void copy_block(void* to, const void* from, int bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes),
               "r"(shared_address(barrier)) : "memory");
}

static inline void arrive(uint64_t* barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory"); }

// Made by the launching program for a row of amdahl_boxes.
struct alignas(64) TensorMap {
  uint64_t bits[16];
};
// The box that begins at that number of that line, as a tile; zeros beyond the matrix. By one thread; all bytes of the box are counted.
static inline void copy_box(void* to, const TensorMap* map, int column, int row, uint64_t* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)), "l"(map),
               "r"(column), "r"(row), "r"(shared_address(barrier)) : "memory");
}
// As many numbers from `channel` on of each pixel that windows see with the tap that is (tap_w, tap_h) pixels from their first one: of the window that
// begins at pixel (w, h) of the image, and those behind it, also of images behind it.
static inline void copy_box_of_windows(void* to, const TensorMap* map, int channel, int w, int h, int image, int tap_w, int tap_h, uint64_t* barrier) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(
                   shared_address(to)), "l"(map), "r"(channel), "r"(w), "r"(h), "r"(image), "r"(shared_address(barrier)), "h"(uint16_t(tap_w)),
               "h"(uint16_t(tap_h)) : "memory");
}

// Where a tile begins, for a multiplication: lines of 128 bytes, 8 of them 1024.
static inline uint64_t tile_descriptor(const void* tile) { return uint64_t(shared_address(tile) >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
static inline void begin_multiplications() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static inline void end_multiplications() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until no more than the NEWEST ended groups are at work.
template <int NEWEST>
static inline void wait_for_multiplications() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(NEWEST) : "memory");
}

// Blocks of a cluster: all wait for all, and what they wrote before is seen behind it.
static inline void meet_cluster() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
// Barriers that were just made are seen by other blocks and by copies, once all have met.
static inline void show_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
struct alignas(8) Pair {
  float at[2];
};
struct alignas(16) Four {
  float at[4];
};
// Numbers in the shared memory of another block of the cluster, at the place that `mine` has here.
static inline Four read_of_block(const float* mine, int block) {
  Four x;
  asm volatile("{\n.reg .u32 there;\nmapa.shared::cluster.u32 there, %4, %5;\nld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n}"
               : "=f"(x.at[0]), "=f"(x.at[1]), "=f"(x.at[2]), "=f"(x.at[3]) : "r"(shared_address(mine)), "r"(block) : "memory");
  return x;
}

// Four numbers to the shared memory of another block, to the place that `mine` has here, counted by its barrier.
static inline void send_to_block(const void* mine, int block, const float* four, uint64_t* barrier) {
  asm volatile("{\n.reg .u32 there, then;\nmapa.shared::cluster.u32 there, %0, %6;\nmapa.shared::cluster.u32 then, %5, %6;\n"
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [there], {%1, %2, %3, %4}, [then];\n}" ::"r"(shared_address(mine)),
               "f"(four[0]), "f"(four[1]), "f"(four[2]), "f"(four[3]), "r"(shared_address(barrier)), "r"(block) : "memory");
}

// The thread's sums of 64 rows a warpgroup: of two rows, 8 apart, and of 8 columns the two from 2 (lane % 4) on. `visit` gets the row and column in the
// block's tile and two adjacent sums.
template <int SUMS_OF_THREAD, class F>
static inline void visit_sums(const float (&sum)[SUMS_OF_THREAD], F visit) {
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int j = 0; j < SUMS_OF_THREAD / 4; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) visit(row + half * 8, j * 8 + column, sum[j * 4 + half * 2], sum[j * 4 + half * 2 + 1]);
}
