// The bits of x rounded to bfloat16: to nearest, ties to even; a NaN stays one.
static inline uint32_t rounded(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  if (x != x) return bits >> 16 | 64;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
