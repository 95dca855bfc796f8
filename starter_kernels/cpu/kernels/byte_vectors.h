// Vectors of sums of bytes on their way to what is stored: floats, integers or bytes. Compilers that make vectors of a scalar epilogue pack and unpack bytes in
// the middle of it, and turn its clips into masks: resnet50's first convolution took 726 us so, and 555 with these (two threads of an Emerald Rapids). Follows gemm_tile.h and vector_math.h.

typedef Vec Ints;  // bytes too, while they are in registers
typedef wide Floats;
typedef uint32_t UnsignedInts __attribute__((vector_size(VLEN * 4)));
typedef uint8_t UnsignedBytes __attribute__((vector_size(VLEN), aligned(1), may_alias));
typedef int8_t SignedBytes __attribute__((vector_size(VLEN), aligned(1), may_alias));

INLINE Floats floats_of(Ints x) { return __builtin_convertvector(x, Floats); }
// Truncates what fits into 32 bits; NaN is 0.
INLINE Ints ints_of(Floats x) { return __builtin_convertvector(x, Ints) & (x == x); }

// Halves to the even neighbour.
template <class V>
INLINE V rounded(V x) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (sizeof(V) == 64) return __builtin_ia32_rndscaleps_mask(x, 4, x, -1, 4);
#endif
#if defined(__AVX__) && !defined(__clang__)
  if constexpr (sizeof(V) == 32) return __builtin_ia32_roundps256(x, 4);
#endif
  for (int i = 0; i < VLEN; ++i) x[i] = __builtin_rintf(x[i]);
  return x;
}

INLINE Ints read_vector(const uint8_t* from) { return __builtin_convertvector(*reinterpret_cast<const UnsignedBytes*>(from), Ints); }
INLINE Ints read_vector(const int8_t* from) { return __builtin_convertvector(*reinterpret_cast<const SignedBytes*>(from), Ints); }
INLINE Ints read_vector(const int32_t* from) { return load(from); }
INLINE Floats read_vector(const float* from) { return *reinterpret_cast<const lanes*>(from); }

INLINE void write_vector(uint8_t* to, Ints x) { *reinterpret_cast<UnsignedBytes*>(to) = __builtin_convertvector(x, UnsignedBytes); }
INLINE void write_vector(int8_t* to, Ints x) { *reinterpret_cast<SignedBytes*>(to) = __builtin_convertvector(x, SignedBytes); }
INLINE void write_vector(int32_t* to, Ints x) { store(to, x); }
INLINE void write_vector(float* to, Floats x) { *reinterpret_cast<lanes*>(to) = x; }
