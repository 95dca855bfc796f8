// Tensor cores and copies to shared memory that overlap with them, from compute capability 8.0 on. HALF is "f16" or "bf16".

static inline uint32_t shared_address(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

// BYTES (4, 8 or 16, as both addresses are aligned) to shared memory, of which the last are zeros but for the first `real` ones; in the background.
template <int BYTES>
static inline void copy_async(void* to, const void* from, int real) {
  if constexpr (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(real) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(BYTES), "r"(real) : "memory");
}
// What this thread has copied since the last one is a group; then to wait until no more than the NEWEST groups are on their way.
static inline void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int NEWEST>
static inline void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(NEWEST) : "memory");
}

// Four 8 x 8 matrices of 2-byte numbers: lane l gives the address of row l % 8 of matrix l / 8, and gets two adjacent numbers of row l / 4 of each
// (transposed: of column l / 4).
template <bool TRANSPOSED>
static inline void load_matrices(uint32_t (&r)[4], const void* row) {
  if constexpr (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

// c += a b, 16 x 16 by 16 x 8, of a warp: lane l has of c rows l / 4 and l / 4 + 8, columns l % 4 * 2 and the next.
static inline void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." HALF "." HALF ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
