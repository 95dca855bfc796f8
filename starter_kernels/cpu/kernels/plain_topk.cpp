// The K best along an axis in order, ties by lower index: insertion into a sorted list, which most elements do not enter.
static inline bool before(IN0_t a, IN0_t b) { return LARGEST ? is_above(a, b) : a < b || (is_nan(b) && !is_nan(a)); }

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* x = (const IN0_t*)in[0];
  OUT0_t* value = (OUT0_t*)out[0];
  OUT1_t* index = (OUT1_t*)out[1];
  for (int64_t o = 0; o < OUTER; ++o)
    for (int64_t i = 0; i < INNER; ++i) {
      OUT0_t* v = value + o * K * INNER + i;
      OUT1_t* n = index + o * K * INNER + i;
      int64_t filled = 0;
      for (int64_t l = 0; l < LENGTH; ++l) {
        const IN0_t candidate = x[(o * LENGTH + l) * INNER + i];
        if (filled == K && (K == 0 || !before(candidate, v[(K - 1) * INNER]))) continue;
        int64_t at = filled < K ? filled++ : K - 1;
        for (; at > 0 && before(candidate, v[(at - 1) * INNER]); --at) {
          v[at * INNER] = v[(at - 1) * INNER];
          n[at * INNER] = n[(at - 1) * INNER];
        }
        v[at * INNER] = candidate;
        n[at * INNER] = (OUT1_t)l;
      }
    }
}
