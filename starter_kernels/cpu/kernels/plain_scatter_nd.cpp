// A copy of data in which slices named by tuples of indices were replaced or combined; in order, one thread.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN1_t* index = (const IN1_t*)in[1];
  const IN2_t* updates = (const IN2_t*)in[2];
  OUT0_t* y = (OUT0_t*)out[0];
  memcpy(y, in[0], sizeof(OUT0_t) * IN0_SIZE);
  for (int64_t t = 0; t < TUPLES; ++t) {
    int64_t at = 0;
    for (int64_t d = 0; d < DEPTH; ++d) at = at * DIMS[d] + bounded((int64_t)index[t * DEPTH + d], DIMS[d]);
    for (int64_t s = 0; s < SLICE; ++s)
      y[at * SLICE + s] = reduced(REDUCTION, y[at * SLICE + s], (OUT0_t)updates[t * SLICE + s]);
  }
}
