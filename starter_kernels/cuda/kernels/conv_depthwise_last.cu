// Convolution whose output channels each read one input channel, over channels last.
//
// A thread has VECTOR adjacent output channels at TN adjacent positions of a row; neighbouring threads have neighbouring channels. Weights are packed at load
// (amdahl_kernel_1) as they are read: a tap's channels side by side. They are constants, which are there before the input is: where they are few, all of them
// are loaded while the kernel before still runs. What adjacent positions both see is loaded once, and the loads of ROWS_TOGETHER rows are on their way together.

enum : int { TAPS = KH * KW, MULTIPLIER = O / G, X_VECTOR = MULTIPLIER < VECTOR ? VECTOR / MULTIPLIER : 1 };
enum : int64_t { VECTORS = O / VECTOR, PIXELS = OH * OW, ROW_PIECES = (OW + TN - 1) / TN, PIECES = N * OH * ROW_PIECES * VECTORS };
enum : int64_t { BLOCKS = PIECES > 0 ? (PIECES + THREADS - 1) / THREADS : 1 };
enum : bool { SHARED = DW == 1 && SW < KW };  // adjacent positions see some of the same columns
enum : int {
  COLUMNS = SHARED ? (TN - 1) * SW + KW : TN * KW,
  WEIGHT_REGISTERS = (VECTOR * sizeof(w_t) + 3) / 4,
  ROW_REGISTERS = COLUMNS * ((X_VECTOR * sizeof(x_t) + 3) / 4),
  HELD = TAPS * WEIGHT_REGISTERS <= (TN == 1 ? 100 : 64) ? TAPS : 1,
  MOST_ROWS = ROW_REGISTERS < 100 ? 100 / ROW_REGISTERS : 1,
  ROWS_TOGETHER = MOST_ROWS < KH ? MOST_ROWS : KH
};

typedef Vector<x_t, X_VECTOR> Seen;
typedef Vector<w_t, VECTOR> Weights;

// The column of those a thread loads that the tap kw of its position j sees, and where it lies behind the first.
static inline constexpr int column_of(int j, int kw) { return SHARED ? j * int(SW) + kw : j * int(KW) + kw; }
static inline constexpr int place_of(int column) { return SHARED ? column : column / int(KW) * int(SW) + column % int(KW) * int(DW); }

// A row of the window for all positions of the thread: zeros beside the input. `row`: the input's row in the first channel of the thread.
static inline void load_row(const x_t* row, bool there, int w0, Seen (&seen)[COLUMNS]) {
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) {
    const int w = w0 + place_of(c);
    seen[c] = Seen{};
    if (there && unsigned(w) < unsigned(IW)) seen[c] = load_vector<X_VECTOR>(row + index_t(w) * index_t(C));
  }
}

static inline void add_row(const Seen (&seen)[COLUMNS], const Weights (&weights)[KW], sum_t (&sum)[TN][VECTOR]) {
  sum_t x[COLUMNS][X_VECTOR];
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
    for (int v = 0; v < X_VECTOR; ++v) x[c][v] = load_x(seen[c].at[v]);
#pragma unroll
  for (int kw = 0; kw < KW; ++kw)
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
      const sum_t weight = load_w(weights[kw].at[v]);
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[j][v] += x[column_of(j, kw)][v / MULTIPLIER] * weight;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  const index_t piece = index_t(blockIdx.x) * int(THREADS) + threadIdx.x;
  const int channel = int(piece % index_t(VECTORS)) * int(VECTOR);
  const w_t* w = (const w_t*)o.in[1] + channel;
  Weights held[HELD];
  if constexpr (HELD == TAPS)
#pragma unroll
    for (int tap = 0; tap < HELD; ++tap) held[tap] = load_vector<VECTOR>(w + tap * index_t(O));
  wait_for_producers();
  if (piece >= PIECES) return;

  const index_t row_piece = piece / index_t(VECTORS), out_row = row_piece / index_t(ROW_PIECES), image = out_row / index_t(OH);
  const int ow = int(row_piece % index_t(ROW_PIECES)) * int(TN), oh = int(out_row % index_t(OH)), first_pixel = oh * int(OW) + ow;
  const int h0 = oh * int(SH) - int(PAD_H), w0 = ow * int(SW) - int(PAD_W);
  const x_t* x = (const x_t*)o.in[0] + image * index_t(IH * IW * C) + channel / MULTIPLIER;
  // What the epilogue reads of the last thread of a row ends with the row.
  rows::Extras extras[TN];
#pragma unroll
  for (int j = 0; j < TN; ++j)
    if (ow + j < OW) extras[j] = rows::fetch_extras(o.in, image, first_pixel + j, channel);

  sum_t sum[TN][VECTOR] = {};
#pragma unroll
  for (int first = 0; first < KH; first += ROWS_TOGETHER) {
    Seen seen[ROWS_TOGETHER][COLUMNS];
#pragma unroll
    for (int r = 0; r < ROWS_TOGETHER; ++r) {
      const int h = h0 + (first + r) * int(DH);
      load_row(x + index_t(h) * index_t(IW * C), first + r < KH && unsigned(h) < unsigned(IH), w0, seen[r]);
    }
#pragma unroll
    for (int r = 0; r < ROWS_TOGETHER; ++r) {
      if (first + r >= KH) continue;
      Weights weights[KW];
#pragma unroll
      for (int kw = 0; kw < KW; ++kw) {
        const int tap = (first + r) * int(KW) + kw;
        weights[kw] = HELD == TAPS ? held[HELD == TAPS ? tap : 0] : load_vector<VECTOR>(w + tap * index_t(O));
      }
      add_row(seen[r], weights, sum);
    }
  }
  Vector<out_t, VECTOR>* out = (Vector<out_t, VECTOR>*)((out_t*)o.out[0] + (image * index_t(PIXELS) + first_pixel) * index_t(O) + channel);
#pragma unroll
  for (int j = 0; j < TN; ++j) {
    Vector<out_t, VECTOR> results;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) results.at[v] = rows::finish_of(sum[j][v], extras[j], v);
    if (ow + j < OW) out[j * int(VECTORS)] = results;
  }
}

// Packs the weights: a thread has one.
extern "C" __global__ void __launch_bounds__(256) amdahl_kernel_1(const __grid_constant__ PackOperands o) {
  const int64_t i = blockIdx.x * 256ll + threadIdx.x;
  if (i < TAPS * O) ((w_t*)o.out)[i] = ((const w_t*)o.in)[i % O * TAPS + i / O];
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
TABLE Pack amdahl_packs[] = {{0}, {TAPS * O * sizeof(w_t), {1, (TAPS * O + 255) / 256, 1, 1, 256, 1, 1, 0}}};
