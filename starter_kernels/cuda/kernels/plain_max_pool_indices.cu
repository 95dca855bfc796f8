// The largest of every window and its place in the whole input; the first of equals, in the order of rows. A thread a window.
typedef arithmetic<IN0_t>::type value_t;
enum : long long { INSIDE = IN(0) * IN(1) * IN(2), WINDOWS = OUT(0) * OUT(1) * OUT(2) };

// What no element is below. The argument only tells the type.
template <class T> static inline T lowest(T*) { return (T)(-__builtin_inff()); }
static inline int8_t lowest(int8_t*) { return -128; }
static inline uint8_t lowest(uint8_t*) { return 0; }

static inline int64_t place(int64_t i0, int64_t i1, int64_t i2) { return COLUMN_MAJOR ? (i2 * IN(1) + i1) * IN(0) + i0 : (i0 * IN(1) + i1) * IN(2) + i2; }

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_each(PLANES * WINDOWS, [&](int64_t n) {
    const int64_t plane = n / WINDOWS, o0 = n / (OUT(1) * OUT(2)) % OUT(0), o1 = n / OUT(2) % OUT(1), o2 = n % OUT(2);
    const IN0_t* x = (const IN0_t*)operands.in[0] + plane * INSIDE;
    bool found = false;
    value_t best = lowest((value_t*)0);
    int64_t at = 0;
    for (int64_t k0 = 0; k0 < KERNEL(0); ++k0)
      for (int64_t k1 = 0; k1 < KERNEL(1); ++k1)
        for (int64_t k2 = 0; k2 < KERNEL(2); ++k2) {
          const int64_t i0 = o0 * STRIDE(0) - PAD(0) + k0 * DILATION(0), i1 = o1 * STRIDE(1) - PAD(1) + k1 * DILATION(1),
                        i2 = o2 * STRIDE(2) - PAD(2) + k2 * DILATION(2);
          if (i0 < 0 || i0 >= IN(0) || i1 < 0 || i1 >= IN(1) || i2 < 0 || i2 >= IN(2)) continue;
          const value_t v = number(x[(i0 * IN(1) + i1) * IN(2) + i2]);
          if (found && !is_above(v, best)) continue;
          found = true;
          best = v;
          at = plane * INSIDE + place(i0, i1, i2);
        }
    ((OUT0_t*)operands.out[0])[n] = stored<OUT0_t>(best);
    ((OUT1_t*)operands.out[1])[n] = at;
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(PLANES * WINDOWS), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
