// Calls f(i) for those of the numbers 0 … COUNT - 1 that are this thread's: THREADS apart. How often is known when the text is compiled, where a loop
// that begins at threadIdx.x has tests and a remainder.
template <int COUNT, int THREADS, int UNROLL = 8, class F>
static inline void for_own(F f) {
#pragma unroll UNROLL
  for (int first = 0; first < COUNT; first += THREADS) {
    const int i = first + int(threadIdx.x);
    if (COUNT % THREADS == 0 || i < COUNT) f(i);
  }
}

