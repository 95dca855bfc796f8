// The largest of every window and its place in the whole input; the first of equals, in the order of rows.
static int64_t place(int64_t i0, int64_t i1, int64_t i2) {
  return COLUMN_MAJOR ? (i2 * IN[1] + i1) * IN[0] + i0 : (i0 * IN[1] + i1) * IN[2] + i2;
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const int64_t size = IN[0] * IN[1] * IN[2];
  OUT0_t* value = (OUT0_t*)out[0];
  OUT1_t* index = (OUT1_t*)out[1];
  for (int64_t plane = 0; plane < PLANES; ++plane) {
    const IN0_t* x = (const IN0_t*)in[0] + plane * size;
    for (int64_t o0 = 0; o0 < OUT[0]; ++o0)
      for (int64_t o1 = 0; o1 < OUT[1]; ++o1)
        for (int64_t o2 = 0; o2 < OUT[2]; ++o2, ++value, ++index) {
          bool found = false;
          IN0_t best = lowest((IN0_t*)0);
          int64_t at = 0;
          for (int64_t k0 = 0; k0 < KERNEL[0]; ++k0)
            for (int64_t k1 = 0; k1 < KERNEL[1]; ++k1)
              for (int64_t k2 = 0; k2 < KERNEL[2]; ++k2) {
                const int64_t i0 = o0 * STRIDE[0] - PAD[0] + k0 * DILATION[0], i1 = o1 * STRIDE[1] - PAD[1] + k1 * DILATION[1],
                              i2 = o2 * STRIDE[2] - PAD[2] + k2 * DILATION[2];
                if (i0 < 0 || i0 >= IN[0] || i1 < 0 || i1 >= IN[1] || i2 < 0 || i2 >= IN[2]) continue;
                const IN0_t v = x[(i0 * IN[1] + i1) * IN[2] + i2];
                if (found && !(v > best || (is_nan(v) && !is_nan(best)))) continue;
                found = true;
                best = v;
                at = plane * size + place(i0, i1, i2);
              }
          *value = best;
          *index = at;
        }
  }
}
