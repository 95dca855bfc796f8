// out[i][j][k] = data[index[i][j][k]][j][k] for AXIS 0, and so on: out and index have one shape.
extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  const IN0_t* data = (const IN0_t*)in[0];
  const IN1_t* index = (const IN1_t*)in[1];
  OUT0_t* y = (OUT0_t*)out[0];
  for (int64_t flat = 0; flat < OUT0_SIZE; ++flat) {
    int64_t rest = flat, from = 0, stride = 1;
    for (int64_t d = IN0_RANK - 1; d >= 0; --d) {
      int64_t at = rest % OUT0_SHAPE[d];
      rest /= OUT0_SHAPE[d];
      if (d == AXIS) at = bounded((int64_t)index[flat], IN0_SHAPE[d]);
      from += at * stride;
      stride *= IN0_SHAPE[d];
    }
    y[flat] = data[from];
  }
}
