// The first in[1][b] steps of every batch entry b in reverse order, the rest as they are.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* x = (const IN0_t*)in[0];
  const IN1_t* lengths = (const IN1_t*)in[1];
  OUT0_t* y = (OUT0_t*)out[0];
  for (int64_t r = 0; r < ROWS; ++r)
    for (int64_t c = 0; c < COLUMNS; ++c) {
      const int64_t time = TIME_FIRST ? r : c, batch = TIME_FIRST ? c : r, steps = TIME_FIRST ? ROWS : COLUMNS;
      int64_t length = (int64_t)lengths[batch];
      length = length < 0 ? 0 : length > steps ? steps : length;
      const int64_t from = time < length ? length - 1 - time : time;
      const int64_t source = TIME_FIRST ? from * COLUMNS + c : r * COLUMNS + from;
      memcpy(y + (r * COLUMNS + c) * SLICE, x + source * SLICE, sizeof(OUT0_t) * SLICE);
    }
}
