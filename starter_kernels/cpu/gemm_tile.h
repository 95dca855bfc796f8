// The register tile of a matrix product, shared by matmul and fused_mlp. Wants from the prelude: ACC (the type that is
// multiplied and accumulated), VLEN (vector width in 4-byte lanes), UNROLL_K, PREFETCH.

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 64")
#endif
#define INLINE static inline __attribute__((always_inline))

typedef ACC Vec __attribute__((vector_size(VLEN * 4)));
// What a pointer may address: operands are only element-aligned.
typedef ACC MemoryVec __attribute__((vector_size(VLEN * 4), aligned(sizeof(ACC)), may_alias));
constexpr int64_t LANES = VLEN * 4 / static_cast<int64_t>(sizeof(ACC));

INLINE Vec load(const ACC* p) { return *reinterpret_cast<const MemoryVec*>(p); }
INLINE void store(ACC* p, Vec v) { *reinterpret_cast<MemoryVec*>(p) = v; }
// x - 0 is x for every x, -0 too, so this is one broadcast; 0 + x would have to keep the addition.
INLINE Vec splat(ACC x) { return x - Vec{}; }

// c += (column of A: ROWS elements A_ROW apart) x (row of B: VECS vectors).
template <int ROWS, int VECS, int64_t A_ROW>
INLINE void rank1_update(const ACC* a, const ACC* b, Vec (&c)[ROWS][VECS]) {
  Vec row[VECS];
  UNROLLED for (int j = 0; j < VECS; ++j) row[j] = load(b + j * LANES);
  UNROLLED for (int i = 0; i < ROWS; ++i) {
    const Vec x = splat(a[i * A_ROW]);
    UNROLLED for (int j = 0; j < VECS; ++j) c[i][j] += x * row[j];
  }
}

// c = A(ROWS x depth) * B(depth x VECS vectors). Element (i, k) of A is a[i * A_ROW + k * A_COL], row k of B starts at
// b + k * B_ROW; all strides are constants, so that addresses are displacements and no register holds a row's pointer.
// Meanwhile LINES cache lines every UNROLL_K steps are fetched from `next`, the panel of B that comes after this one.
template <int ROWS, int VECS, int64_t A_ROW, int64_t A_COL, int64_t B_ROW, int LINES>
INLINE void multiply_tile(const ACC* a, const ACC* b, int64_t depth, const char* next, Vec (&c)[ROWS][VECS]) {
  UNROLLED for (int i = 0; i < ROWS; ++i) {
    UNROLLED for (int j = 0; j < VECS; ++j) c[i][j] = Vec{};
  }
  int64_t k = 0;
  for (; k + UNROLL_K <= depth; k += UNROLL_K) {
    UNROLLED for (int line = 0; line < LINES; ++line) __builtin_prefetch(next + line * 64);
    next += LINES * 64;
    UNROLLED for (int u = 0; u < UNROLL_K; ++u) {
      rank1_update<ROWS, VECS, A_ROW>(a + u * A_COL, b + u * B_ROW, c);
    }
    a += UNROLL_K * A_COL;
    b += UNROLL_K * B_ROW;
  }
  for (; k < depth; ++k, a += A_COL, b += B_ROW) rank1_update<ROWS, VECS, A_ROW>(a, b, c);
}
