// In place of starter_kernels/cuda/kernels/mma.h: the same functions, of the emulated card.

template <int BYTES>
static inline void copy_async(void* to, const void* from, int real) {
  emulated_copy(to, from, BYTES, real);
}
static inline void end_group() { emulated_end_group(); }
template <int NEWEST>
static inline void wait_for_groups() {
  emulated_wait_for_groups(NEWEST);
}

template <bool TRANSPOSED>
static inline void load_matrices(uint32_t (&r)[4], const void* row) {
  if (uint64_t(row) % 16 != 0) emulated_fault("loads a row of a matrix from an odd address");
  const void* rows = emulated_exchange(0xffffffffu, &row, sizeof(row));
  const unsigned lane = emulated_lane();
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    uint32_t both = 0;
    for (unsigned n = 0; n < 2; ++n) {
      const unsigned of_row = TRANSPOSED ? lane % 4 * 2 + n : lane / 4, column = TRANSPOSED ? lane / 4 : lane % 4 * 2 + n;
      const uint16_t* from = of_lane_in<const uint16_t*>(0xffffffffu, rows, matrix * 8 + of_row);
      both |= uint32_t(from[column]) << (16 * n);
    }
    r[matrix] = both;
  }
}

// Of the two in a register the n-th.
static inline float half_at(uint32_t both, unsigned n) {
  const uint16_t bits = uint16_t(both >> (16 * n));
  return HALF[0] == 'b' ? scalar::from_bf16(bits) : float(same_bits<half_t>(bits));
}

struct Fragments {
  uint32_t a[4], b[2];
};
struct Sums {
  float of[4];
};

// Numbers alone, none of the kernel's memory: multiply_add() reads its arguments and writes its result where accesses are watched. With those to this
// function's own variables watched too, and each number made a float where it is used, mutants of attention took 42 s, and 6 s since (2026-11-29).
__attribute__((noinline, no_sanitize("thread"))) static Sums sums_and_products(Sums c, const Fragments own) {
  const char* shown = (const char*)emulated_exchange(0xffffffffu, &own, sizeof(own));
  const unsigned lane = emulated_lane();
  float a[2][16], b[2][16];
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned n = 0; n < 2; ++n) {
      const Fragments& of_a = *(const Fragments*)(shown + 64 * (lane / 4 * 4 + k % 8 / 2));
      const Fragments& of_b = *(const Fragments*)(shown + 64 * ((lane % 4 * 2 + n) * 4 + k % 8 / 2));
      a[n][k] = half_at(of_a.a[n + k / 8 * 2], k % 2);
      b[n][k] = half_at(of_b.b[k / 8], k % 2);
    }
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned k = 0; k < 16; ++k) c.of[i] += a[i / 2][k] * b[i % 2][k];
  return c;
}

static inline void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const Sums sums = sums_and_products({c[0], c[1], c[2], c[3]}, {{a[0], a[1], a[2], a[3]}, {b0, b1}});
  for (unsigned i = 0; i < 4; ++i) c[i] = sums.of[i];
}
