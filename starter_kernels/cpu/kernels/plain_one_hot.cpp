// OUT is [OUTER, LENGTH, INNER]; indices (in[0]) are [OUTER, INNER]; in[1] = {off, on}. Indices out of range select nothing.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* indices = (const IN0_t*)in[0];
  const IN1_t* values = (const IN1_t*)in[1];
  OUT0_t* y = (OUT0_t*)out[0];
  for (int64_t o = 0; o < OUTER; ++o)
    for (int64_t l = 0; l < LENGTH; ++l)
      for (int64_t i = 0; i < INNER; ++i) {
        int64_t hot = (int64_t)indices[o * INNER + i];
        if (hot < 0) hot += LENGTH;
        y[(o * LENGTH + l) * INNER + i] = values[hot == l];
      }
}
