// The register tile of a matrix product, shared by matmul and fused_mlp. Wants from the prelude: ACC (the type that is
// multiplied and accumulated), VLEN (vector width in 4-byte lanes), UNROLL_K, PREFETCH. Where one of these is defined, an element of A
// and B is several steps of K in the four bytes of an ACC, and a multiplication adds all their products:
//   PAIRS_OF_BF16    two in bfloat16 (ACC is float)
//   FOURS_OF_BYTES   four, of A in u8 and of B in i8 (ACC is int32_t), by one instruction: VNNI's vpdpbusd, which does not saturate
//   PAIRS_OF_SHORTS  two in 16 bits (ACC is int32_t), by vpmaddwd and an addition. (vpmaddubsw takes bytes, but saturates sums of two products.)

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#define UNROLLED_K _Pragma("clang loop unroll_count(UNROLL_K)")
#else
#define UNROLLED _Pragma("GCC unroll 64")
#define UNROLLED_K _Pragma("GCC unroll UNROLL_K")
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

#ifdef PAIRS_OF_BF16
// Bits that are no number of fp32 are broadcast as integers.
INLINE Vec splat_from(const ACC* p) {
  typedef int32_t Bits __attribute__((vector_size(VLEN * 4)));
  int32_t bits;
  __builtin_memcpy(&bits, p, 4);
  return (Vec)(bits - Bits{});
}
// Steps of K in an element of A and B.
constexpr int64_t STEPS = 2;
typedef uint32_t Pair __attribute__((may_alias));
// 16 pairs from 32 neighbours.
INLINE Vec rounded_32(Vec first, Vec second) {
  Vec pairs;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(pairs) : "v"(first), "v"(second));
  return pairs;
}
INLINE Vec multiply_add(Vec x, Vec y, Vec sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  return sum;
}
#elif defined(FOURS_OF_BYTES)
constexpr int64_t STEPS = 4;
INLINE Vec multiply_add(Vec x, Vec y, Vec sum) {
#ifdef VNNI_OF_AVX  // of vectors of 32 bytes there are two encodings, each of machines that may lack the other
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
#else
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
#endif
  return sum;
}
#elif defined(PAIRS_OF_SHORTS)
constexpr int64_t STEPS = 2;
INLINE Vec multiply_add(Vec x, Vec y, Vec sum) {
  Vec products;
  asm("vpmaddwd %2, %1, %0" : "=v"(products) : "v"(x), "v"(y));
  return sum + products;
}
#else
constexpr int64_t STEPS = 1;
INLINE Vec splat_from(const ACC* p) { return splat(*p); }
INLINE Vec multiply_add(Vec x, Vec y, Vec sum) { return sum + x * y; }
#endif

#if defined(FOURS_OF_BYTES) || defined(PAIRS_OF_SHORTS)
// Elements may lie at any byte.
INLINE Vec splat_from(const ACC* p) {
  ACC bits;
  __builtin_memcpy(&bits, p, 4);
  return splat(bits);
}
#endif

// c += (column of A: ROWS elements A_ROW apart) x (row of B: VECS vectors).
template <int ROWS, int VECS, int64_t A_ROW>
INLINE void rank1_update(const ACC* a, const ACC* b, Vec (&c)[ROWS][VECS]) {
  Vec row[VECS];
  UNROLLED for (int j = 0; j < VECS; ++j) row[j] = load(b + j * LANES);
  UNROLLED for (int i = 0; i < ROWS; ++i) {
    const Vec x = splat_from(a + i * A_ROW);
    UNROLLED for (int j = 0; j < VECS; ++j) c[i][j] = multiply_add(x, row[j], c[i][j]);
  }
}

// c = A(ROWS x depth) * B(depth x VECS vectors). Element (i, k) of A is a[i * A_ROW + k * A_COL], row k of B starts at
// b + k * B_ROW; all strides are constants, so that addresses are displacements and no register holds a row's pointer.
// Meanwhile FETCH bytes a step are fetched from `next`, the panel of B that comes after this one: into L2, since a panel of 768 rows of 32
// columns is three times L1, and would only push out what is multiplied now. (Zen 3 fills L1 whatever the hint says.)
// Fewer than a line a step ask for a line several times, which costs a load that there is room for; lines asked for in a burst at the start of a tile fill the miss buffers just when its A and C are
// missing too (products of quarters on Zen 3: 2 to 6% slower).
//
// The steps are unrolled by a pragma, which GCC obeys late, on instructions: an accumulator keeps its register. Unrolled in the text it
// is another variable at every step, and allocation then adds 5 to 19 moves and spills to the 96 FMAs of four steps of an 8 x 3 tile.
template <int ROWS, int VECS, int64_t A_ROW, int64_t A_COL, int64_t B_ROW, int64_t FETCH = 0>
INLINE void multiply_tile(const ACC* a, const ACC* b, int64_t depth, const char* next, Vec (&c)[ROWS][VECS]) {
  UNROLLED for (int i = 0; i < ROWS; ++i) {
    UNROLLED for (int j = 0; j < VECS; ++j) c[i][j] = Vec{};
  }
  UNROLLED_K for (int64_t k = 0; k < depth; ++k) {
    UNROLLED for (int64_t byte = 0; byte < FETCH; byte += 64) __builtin_prefetch(next + k * FETCH + byte, 0, 2);
    rank1_update<ROWS, VECS, A_ROW>(a + k * A_COL, b + k * B_ROW, c);
  }
}
