// Where the windows of a pooling lie: what its forms have in common.

// Taps k of [first, end) of a window starting at `at` lie in [0, size).
struct Taps {
  int first, end;
};
static inline Taps taps_inside(int at, int kernel, int dilation, int size) {
  const int first = at < 0 ? (-at + dilation - 1) / dilation : 0;
  const int end = at >= size ? 0 : (size - at + dilation - 1) / dilation;
  return {first, end < kernel ? end : kernel};
}

// How many taps an average divides by: with padding counted, those of the padded input, which a window of ceil_mode leaves.
static inline int64_t counted(int at, int kernel, int dilation, int size, int pad_end) {
  if constexpr (COUNT_PAD) {
    return taps_inside(at, kernel, dilation, size + pad_end).end;  // the padding before the input counts too
  } else {
    const Taps t = taps_inside(at, kernel, dilation, size);
    return t.end > t.first ? t.end - t.first : 0;
  }
}
