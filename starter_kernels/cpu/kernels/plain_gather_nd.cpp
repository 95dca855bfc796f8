// Slices of data named by tuples of indices: BATCHES times TUPLES tuples of DEPTH indices, SLICE elements each.
static inline int64_t slice_of(const IN1_t* tuple) {
  int64_t at = 0;
  for (int64_t d = 0; d < DEPTH; ++d) at = at * DIMS[d] + bounded((int64_t)tuple[d], DIMS[d]);
  return at;
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* data = (const IN0_t*)in[0];
  const IN1_t* index = (const IN1_t*)in[1];
  OUT0_t* y = (OUT0_t*)out[0];
  int64_t slices = 1;
  for (int64_t d = 0; d < DEPTH; ++d) slices *= DIMS[d];
  for (int64_t b = 0; b < BATCHES; ++b)
    for (int64_t t = 0; t < TUPLES; ++t)
      memcpy(y + (b * TUPLES + t) * SLICE, data + (b * slices + slice_of(index + (b * TUPLES + t) * DEPTH)) * SLICE,
             sizeof(OUT0_t) * SLICE);
}
