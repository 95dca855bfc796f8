// Running sum along an axis. Floats are summed in double: a result is then rounded once, not at each addition.
template <typename T>
struct chain { typedef T type; };
template <>
struct chain<float> { typedef double type; };

template <int64_t COUNT>
static void sum_lines(const IN0_t* x, OUT0_t* y, int64_t first, int64_t count) {
  chain<arithmetic<OUT0_t>::type>::type sums[GROUP] = {};
  for (int64_t s = 0; s < LENGTH; ++s) {
    const int64_t row = first + (REVERSE ? LENGTH - 1 - s : s) * INNER;
#pragma GCC unroll 8
    for (int64_t j = 0; j < (COUNT > 0 ? COUNT : count); ++j) {
      const int64_t at = row + j * LINE_STEP;
      if (EXCLUSIVE) y[at] = (OUT0_t)sums[j];
      sums[j] += x[at];
      if (!EXCLUSIVE) y[at] = (OUT0_t)sums[j];
    }
  }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const auto* x = (const IN0_t*)in[0];
  auto* y = (OUT0_t*)out[0];
  for_groups([&](int64_t first, int64_t, int64_t count) { count == GROUP ? sum_lines<GROUP>(x, y, first, count) : sum_lines<0>(x, y, first, count); });
}
