// A copy of data in which slices named by tuples of indices were replaced or combined. Elements of a slice never meet one another.
static inline constexpr int64_t places() {
  int64_t n = 1;
  for (int d = 0; d < DEPTH; ++d) n *= DIMS(d);
  return n;
}
enum : long long { PLACES = places(), UPDATES = TUPLES, STEPS = TUPLES, RUNS = SLICE };

static inline int64_t place_of(const void* const* in, int64_t update) {
  int64_t at = 0;
#pragma unroll
  for (int d = 0; d < DEPTH; ++d) at = at * DIMS(d) + bounded((int64_t)((const IN1_t*)in[1])[update * DEPTH + d], DIMS(d));
  return at;
}

static inline int64_t update_of(int64_t, int64_t step) { return step; }
static inline int64_t element_of(int64_t run) { return run; }
