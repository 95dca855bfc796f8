// Pooling over windows: maximum, or average with or without the padding counted. Pixels of an output row are in lanes;
// the columns whose window leaves the input on the left or right are done one by one.

extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

// Taps k of [first, end) of a window starting at `at` lie in [0, size).
struct Taps {
  int64_t first, end;
};
static inline Taps taps_inside(int64_t at, int64_t kernel, int64_t dilation, int64_t size) {
  const int64_t first = at < 0 ? (-at + dilation - 1) / dilation : 0;
  const int64_t end = at >= size ? 0 : (size - at + dilation - 1) / dilation;
  return {first, end < kernel ? end : kernel};
}

// How many taps an average divides by: with padding counted, those of the padded input, which a window of ceil_mode
// leaves.
static inline int64_t counted(int64_t at, int64_t kernel, int64_t dilation, int64_t size, int64_t pad_end) {
  if constexpr (COUNT_PAD) {
    const Taps t = taps_inside(at, kernel, dilation, size + pad_end);
    return t.end;  // the padding before the input counts too
  } else {
    const Taps t = taps_inside(at, kernel, dilation, size);
    return t.end > t.first ? t.end - t.first : 0;
  }
}

static inline ACC join(ACC a, ACC b) {
  if constexpr (IS_MAX)
    return a > b || a != a ? a : b;  // NaN stays
  else
    return a + b;
}

static inline OUT finish_window(ACC sum, int64_t count) {
  if constexpr (IS_MAX)
    return (OUT)sum;
  else
    return (OUT)(sum / (ACC)count);
}

// Output columns [from, to) of one row, all with the taps [kw.first, kw.end): from one to all columns of the row.
template <bool ONE>
static void columns(const T* x, OUT* row, Taps kd, Taps kh, Taps kw, int64_t count, int64_t id, int64_t ih,
                    int64_t from, int64_t to) {
  constexpr int64_t BLOCK = ONE ? 1 : 64;
  for (int64_t at = from; at < to; at += BLOCK) {
    const int64_t n = ONE ? 1 : (to - at < BLOCK ? to - at : BLOCK);
    ACC sums[BLOCK];
    for (int64_t j = 0; j < n; ++j) sums[j] = EMPTY;
    for (int64_t d = kd.first; d < kd.end; ++d)
      for (int64_t h = kh.first; h < kh.end; ++h) {
        const T* line = x + ((id + d * DD) * IH + ih + h * DH) * IW - PAD_W;
        for (int64_t w = kw.first; w < kw.end; ++w) {
          const T* tap = line + at * SW + w * DW;
#pragma omp simd
          for (int64_t j = 0; j < n; ++j) sums[j] = join(sums[j], (ACC)tap[j * SW]);
        }
      }
    for (int64_t j = 0; j < n; ++j) row[at + j] = finish_window(sums[j], count);
  }
}

// Whole-plane windows: several partial results break the chain of dependent operations.
static void plane(const T* x, OUT* out) {
  constexpr int64_t SIZE = ID * IH * IW;
  ACC lanes[32];
  for (int64_t j = 0; j < 32; ++j) lanes[j] = EMPTY;
  int64_t i = 0;
  for (; i + 32 <= SIZE; i += 32)
#pragma omp simd
    for (int64_t j = 0; j < 32; ++j) lanes[j] = join(lanes[j], (ACC)x[i + j]);
  ACC all = EMPTY;
  for (; i < SIZE; ++i) all = join(all, (ACC)x[i]);
  for (int64_t j = 0; j < 32; ++j) all = join(all, lanes[j]);
  *out = finish_window(all, SIZE);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void*) {
  // Columns [left, right) have all their taps inside.
  constexpr int64_t SPAN = (KW - 1) * DW + 1;
  constexpr int64_t LEFT = PAD_W == 0 ? 0 : ((PAD_W + SW - 1) / SW < OW ? (PAD_W + SW - 1) / SW : OW);
  constexpr int64_t LAST = IW + PAD_W - SPAN;  // largest start of a full window, in padded columns
  constexpr int64_t INSIDE = LAST < 0 ? 0 : LAST / SW + 1;
  constexpr int64_t RIGHT = INSIDE < LEFT ? LEFT : (INSIDE < OW ? INSIDE : OW);
#pragma omp parallel for num_threads(THREADS) schedule(static)
  for (int64_t c = 0; c < N * C; ++c) {
    const T* x = static_cast<const T*>(in[0]) + c * ID * IH * IW;
    OUT* to = static_cast<OUT*>(out[0]) + c * OD * OH * OW;
    if constexpr (GLOBAL) {
      plane(x, to);
      continue;
    }
    for (int64_t od = 0; od < OD; ++od)
      for (int64_t oh = 0; oh < OH; ++oh) {
        const int64_t id = od * SD - PAD_D, ih = oh * SH - PAD_H;
        const Taps kd = taps_inside(id, KD, DD, ID), kh = taps_inside(ih, KH, DH, IH);
        const int64_t rows = counted(id, KD, DD, ID, PAD_END_D) * counted(ih, KH, DH, IH, PAD_END_H);
        OUT* row = to + (od * OH + oh) * OW;
        const auto edge = [&](int64_t ow) {
          const int64_t iw = ow * SW - PAD_W;
          columns<true>(x, row, kd, kh, taps_inside(iw, KW, DW, IW), rows * counted(iw, KW, DW, IW, PAD_END_W), id, ih,
                        ow, ow + 1);
        };
        for (int64_t ow = 0; ow < LEFT; ++ow) edge(ow);
        columns<false>(x, row, kd, kh, {0, KW}, rows * KW, id, ih, LEFT, RIGHT);
        for (int64_t ow = RIGHT; ow < OW; ++ow) edge(ow);
      }
  }
}
