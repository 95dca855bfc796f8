// A copy of data in which updates[i][j][k] went to [index[i][j][k]][j][k] for AXIS 0, and so on. Only updates of one line along the axis can meet.
#define SLICE 1
enum : long long {
  PLACES = OUT0_SIZE,
  UPDATES = IN2_SIZE,
  STEPS = IN2_SHAPE(AXIS),  // of a line
  RUNS = STEPS > 0 ? UPDATES / STEPS : 0
};

static inline int64_t place_of(const void* const* in, int64_t update) {
  int64_t rest = update, to = 0, stride = 1;
#pragma unroll
  for (int d = IN0_RANK - 1; d >= 0; --d) {
    int64_t at = rest % IN2_SHAPE(d);
    rest /= IN2_SHAPE(d);
    if (d == AXIS) at = bounded((int64_t)((const IN1_t*)in[1])[update], IN0_SHAPE(d));
    to += at * stride;
    stride *= IN0_SHAPE(d);
  }
  return to;
}

static inline int64_t update_of(int64_t run, int64_t step) {
  int64_t after = 1;  // elements from one step to the next
#pragma unroll
  for (int d = IN0_RANK - 1; d > AXIS; --d) after *= IN2_SHAPE(d);
  return (run / after * STEPS + step) * after + run % after;
}
static inline int64_t element_of(int64_t) { return 0; }
