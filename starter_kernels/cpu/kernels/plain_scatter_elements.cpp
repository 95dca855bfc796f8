// A copy of data in which updates[i][j][k] went to [index[i][j][k]][j][k] for AXIS 0, and so on; in order, one thread.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN1_t* index = (const IN1_t*)in[1];
  const IN2_t* updates = (const IN2_t*)in[2];
  OUT0_t* y = (OUT0_t*)out[0];
  memcpy(y, in[0], sizeof(OUT0_t) * IN0_SIZE);
  for (int64_t flat = 0; flat < IN2_SIZE; ++flat) {
    int64_t rest = flat, to = 0, stride = 1;
    for (int64_t d = IN0_RANK - 1; d >= 0; --d) {
      int64_t at = rest % IN2_SHAPE[d];
      rest /= IN2_SHAPE[d];
      if (d == AXIS) at = bounded((int64_t)index[flat], IN0_SHAPE[d]);
      to += at * stride;
      stride *= IN0_SHAPE[d];
    }
    y[to] = reduced(REDUCTION, y[to], (OUT0_t)updates[flat]);
  }
}
