// Transposed convolution as convolutions with stride 1, none of which multiplies by the zeros that a stride would put between inputs. With q and r so
// that o + PAD = q * S + r, output o reads input q - k * D / S by the taps k of which k * D % S is r, and by no others. The outputs of one r in each dimension, a phase,
// are thus a matrix product over the phase's own taps,
//   sums[o, q] = sum over (c, tap) of w[c, o, tap] * x[c, q moved by the tap],
// of packed panels as in conv_im2col.cpp. The SW phases whose outputs lie side by side are computed together for the same q, and written as one row: apart, each
// line of out would be written SW times (4x32x64x64 by 32x64x3x3 with strides of 2 on Zen 1, both in turns: 31.6 ms apart, 27.9 together).

constexpr int64_t CG = C / G, OG = O / G, TAPS = KD * KH * KW, P = OD * OH * OW, PHASES = SD * SH * SW;

// One dimension; `before` zeros in front of the input are for taps that reach there.
struct Axis {
  int64_t in, out, kernel, stride, dilation, pad;
  constexpr int64_t before() const { return (kernel - 1) * dilation / stride; }
  constexpr int64_t padded() const {
    const int64_t read = (out - 1 + pad) / stride + 1;
    return before() + (in > read ? in : read);
  }
  constexpr int64_t first_q() const { return pad / stride; }
  constexpr int64_t count_q() const { return (out - 1 + pad) / stride - first_q() + 1; }
  // Of phase r: its first output, how many it has, and what the tap that moves nothing reads for the first.
  constexpr int64_t first(int64_t r) const { return ((r - pad) % stride + stride) % stride; }
  constexpr int64_t count(int64_t r) const { return first(r) < out ? (out - first(r) + stride - 1) / stride : 0; }
  constexpr int64_t start(int64_t r) const { return before() + (first(r) + pad - r) / stride; }
};
constexpr Axis DEPTH{ID, OD, KD, SD, DD, PAD_D}, HEIGHT{IH, OH, KH, SH, DH, PAD_H}, WIDTH{IW, OW, KW, SW, DW, PAD_W};
constexpr int64_t DQ = DEPTH.padded(), HQ = HEIGHT.padded(), WQ = WIDTH.padded(), PLANE = HQ * WQ, CHANNEL = DQ * PLANE;

constexpr int64_t phase_of_tap(int64_t tap) {
  const int64_t kd = tap / (KH * KW), kh = tap / KW % KH, kw = tap % KW;
  return (kd * DD % SD * SH + kh * DH % SH) * SW + kw * DW % SW;
}
constexpr int64_t moved_by_tap(int64_t tap) {
  const int64_t kd = tap / (KH * KW), kh = tap / KW % KH, kw = tap % KW;
  return kd * DD / SD * PLANE + kh * DH / SH * WQ + kw * DW / SW;
}

// Taps in the order of their phases: those of phase f are tap[begin[f]] ….
struct TapsByPhase {
  int64_t begin[PHASES + 1] = {}, tap[TAPS] = {}, most = 0;
  constexpr TapsByPhase() {
    for (int64_t t = 0; t < TAPS; ++t) ++begin[phase_of_tap(t) + 1];
    for (int64_t f = 0; f < PHASES; ++f) {
      if (begin[f + 1] > most) most = begin[f + 1];
      begin[f + 1] += begin[f];
    }
    int64_t at[PHASES + 1] = {};
    for (int64_t f = 0; f < PHASES; ++f) at[f] = begin[f];
    for (int64_t t = 0; t < TAPS; ++t) tap[at[phase_of_tap(t)]++] = t;
  }
};
constexpr TapsByPhase BY_PHASE;

constexpr bool BY_CHANNELS = PARTITION == 1;
constexpr int64_t MOST_K = CG * BY_PHASE.most, KB = KC < MOST_K ? KC : MOST_K, COLUMNS = WIDTH.count_q();
constexpr int64_t O_TILES = (OG + MR - 1) / MR;
constexpr int64_t TOGETHER = images_together(C * CHANNEL), PREPARED = TOGETHER * C * CHANNEL + VLEN;  // floats; a vector of slack for the last copy
constexpr int64_t TILE = SW * MR * NR;                                    // sums of a tile: [SW][MR][NR]
constexpr int64_t SUMS = KB < MOST_K ? PANELS * O_TILES * TILE : TILE;  // of a block, where K comes in parts
constexpr int64_t PANEL = KB * NR + VLEN;
constexpr int64_t THREAD_FLOATS = (SW * PANEL + SUMS + 31) / 16 * 16;

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * ((PREPARED + 15) / 16 * 16 + THREADS * THREAD_FLOATS); }
extern "C" size_t amdahl_packed_bytes(int input) { return input == 1 ? 4 * G * O_TILES * CG * TAPS * MR : 0; }

// Tiles of MR output channels, k outermost: [phase][group][tile][k][MR], the order in which the tile loop reads.
extern "C" void amdahl_pack(int, const void* raw, void* packed) {
  const float* w = static_cast<const float*>(raw);
  float* to = static_cast<float*>(packed);
  for (int64_t f = 0; f < PHASES; ++f)
    for (int64_t g = 0; g < G; ++g)
      for (int64_t tile = 0; tile < O_TILES; ++tile)
        for (int64_t c = 0; c < CG; ++c)
          for (int64_t t = BY_PHASE.begin[f]; t < BY_PHASE.begin[f + 1]; ++t)
            for (int64_t m = 0; m < MR; ++m) {
              const int64_t o = tile * MR + m;
              *to++ = o < OG ? w[((g * CG + c) * OG + o) * TAPS + BY_PHASE.tap[t]] : 0.0f;
            }
}

struct Weights {
  static constexpr int64_t STEP_K = MR, STEP_M = 1;
};

// The SW phases of one r in depth and height.
struct Phases {
  int64_t number;                // of the first
  int64_t depths, rows;          // outputs, by dimension
  int64_t first_d, first_h;      // the first of them
  int64_t start;                 // what the tap that moves nothing reads for the first q, in a prepared channel

  explicit Phases(int64_t n) : number(n * SW) {
    const int64_t rd = n / SH, rh = n % SH;
    depths = DEPTH.count(rd), rows = HEIGHT.count(rh), first_d = DEPTH.first(rd), first_h = HEIGHT.first(rh);
    start = DEPTH.start(rd) * PLANE + HEIGHT.start(rh) * WQ + WIDTH.before() + WIDTH.first_q();
  }
  int64_t vectors() const { return (pixels() + VLEN - 1) / VLEN; }
  int64_t pixels() const { return depths * rows * COLUMNS; }  // of each phase
};

// Parts of rows in a panel: where each is read and written, and how many q it has.
struct Pieces {
  int64_t count = 0, from[NR], row[NR], column[NR], length[NR];

  Pieces(const Phases& f, int64_t p, int64_t n) {
    for (int64_t q = p; q < p + n;) {
      const int64_t w = q % COLUMNS, h = q / COLUMNS % f.rows, d = q / (COLUMNS * f.rows);
      const int64_t len = COLUMNS - w < p + n - q ? COLUMNS - w : p + n - q;
      from[count] = f.start + d * PLANE + h * WQ + w;
      row[count] = ((f.first_d + d * SD) * OH + f.first_h + h * SH) * OW;
      column[count] = (WIDTH.first_q() + w) * SW - PAD_W;  // of the first phase, which may lie before the row, as the last may behind
      length[count++] = len;
      q += len;
    }
  }
};

// Depth `d` of a channel between zeros, PLANE floats; counts prepared planes.
static void prepare_plane(const float* x_channel, float* to, int64_t d) {
  constexpr int64_t BEFORE = WIDTH.before(), BEHIND = BEFORE + IW < WQ ? BEFORE + IW : WQ;
  const int64_t id = d - DEPTH.before();
  for (int64_t q = 0; q < HQ; ++q) {
    float* line = to + q * WQ;
    const int64_t ih = q - HEIGHT.before();
    const bool inside = id >= 0 && id < ID && ih >= 0 && ih < IH;
    const int64_t first = inside ? BEFORE : 0, end = inside ? BEHIND : 0;
    const float* from = x_channel + (inside ? (id * IH + ih) * IW : 0);
    for (int64_t j = 0; j < first; ++j) line[j] = 0;
    for (int64_t j = first; j < end; ++j) line[j] = from[j - BEFORE];
    for (int64_t j = end; j < WQ; ++j) line[j] = 0;
  }
}

// Rows k0 … k0+kc of a phase's im2col matrix at these pixels, to b[k][NR]; it has `taps` of them at `tap`. Copies whole vectors: a piece's overhang is overwritten by the
// next one, the last one's falls in the slack.
static void pack_panel(const float* x, const int64_t* tap, int64_t taps, const Pieces& pieces, float* b, int64_t k0, int64_t kc) {
  for (int64_t k = 0; k < kc; ++k) {
    const float* channel = x + (k0 + k) / taps * CHANNEL - moved_by_tap(tap[(k0 + k) % taps]);
    float* to = b + k * NR;
    for (int64_t piece = 0; piece < pieces.count; ++piece) {
      const float* from = channel + pieces.from[piece];
      const int64_t len = pieces.length[piece];
      for (int64_t j = 0; j < len; j += VLEN) *(vec*)(to + j) = *(const vec*)(from + j);
      to += len;
    }
    for (float* end = b + (k + 1) * NR; to < end;) *to++ = 0;
  }
}

// The sums [SW][MR][NR] of a tile to `rows` channels from o on.
static void write_rows(const float* sums, const Pieces& pieces, float* out, int64_t rows, const void* const* in, int64_t image, int64_t o) {
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t piece = 0, at = 0; piece < pieces.count; at += pieces.length[piece++]) {
      const int64_t row = pieces.row[piece], column = pieces.column[piece], length = pieces.length[piece];
      const float* from = sums + m * NR + at;
      float* to = out + m * P + row;
      if (column >= 0 && column + length * SW <= OW) {
        for (int64_t j = 0; j < length; ++j)
#pragma GCC unroll 4
          for (int64_t r = 0; r < SW; ++r)
            to[column + j * SW + r] = finish(from[r * MR * NR + j], in, image, o + m, row + column + j * SW + r);
      } else {
        for (int64_t i = column < 0 ? -column : 0; i < length * SW && column + i < OW; ++i)
          to[column + i] = finish(from[i % SW * MR * NR + i / SW], in, image, o + m, row + column + i);
      }
    }
}

// What tiles would do with their sums: they stay where write_rows() finds them.
struct Kept {
  template <int COUNT>
  void whole(int, const float*) const {}
  void part(int, const float*, int64_t) const {}
};

// Pixel vectors [v0, v1), at most PANELS panels of them, and channel tiles [t0, t1) of one image, group and row of phases.
static void block(const float* x, const float* w, float* out, const Phases& f, int64_t v0, int64_t v1, int64_t t0, int64_t t1, float* scratch,
                  const void* const* in, int64_t image, int64_t group) {
  float* panels = scratch;
  float* all_sums = scratch + SW * PANEL;
  for (int64_t k0 = 0; k0 == 0 || k0 < MOST_K; k0 += KB)
    for (int64_t v = v0; v < v1; v += NV) {
      const int64_t vecs = v1 - v < NV ? v1 - v : NV, p = v * VLEN;
      const Pieces pieces(f, p, f.pixels() - p < vecs * VLEN ? f.pixels() - p : vecs * VLEN);
      int64_t begin[SW], taps[SW], steps[SW];
      for (int64_t r = 0; r < SW; ++r) {
        begin[r] = BY_PHASE.begin[f.number + r], taps[r] = BY_PHASE.begin[f.number + r + 1] - begin[r];
        const int64_t left = CG * taps[r] - k0;
        steps[r] = left < 0 ? 0 : left < KB ? left : KB;
        pack_panel(x, BY_PHASE.tap + begin[r], taps[r], pieces, panels + r * PANEL, k0, steps[r]);
      }
      for (int64_t t = t0; t < t1; ++t) {
        float* sums = all_sums + (KB < MOST_K ? ((v - v0) / NV * O_TILES + t) * TILE : 0);
        const int64_t left = OG - t * MR, rows = left < MR ? left : MR;
        for (int64_t r = 0; r < SW; ++r) {
          if (k0 > 0 && steps[r] == 0) continue;
          const float* weights = w + ((G * begin[r] + group * taps[r]) * O_TILES + t * taps[r]) * CG * MR + k0 * MR;
          if (OG % MR != 0 && t == O_TILES - 1)
            tile_of<Weights, OG % MR ? OG % MR : MR>(vecs, weights, panels + r * PANEL, steps[r], sums + r * MR * NR, k0 == 0, /*last=*/false, 0, Kept{});
          else
            tile_of<Weights, MR>(vecs, weights, panels + r * PANEL, steps[r], sums + r * MR * NR, k0 == 0, /*last=*/false, 0, Kept{});
        }
        if (k0 + KB >= MOST_K) write_rows(sums, pieces, out + t * MR * P, rows, in, image, group * OG + t * MR);
      }
    }
}

// Parts [from, to) of a whole of `parts`, of one image and group: so many of each row of phases' pixels (or of the channel tiles).
static void share(const float* x, const float* w, float* out, int64_t from, int64_t to, int64_t parts, float* scratch, const void* const* in, int64_t image,
                  int64_t group) {
  constexpr int64_t STEP = PANELS * NV;
  const int64_t t0 = BY_CHANNELS ? O_TILES * from / parts : 0, t1 = BY_CHANNELS ? O_TILES * to / parts : O_TILES;
  for (int64_t n = 0; n < SD * SH; ++n) {
    const Phases phases(n);
    const int64_t vectors = phases.vectors(), begin = BY_CHANNELS ? 0 : vectors * from / parts, end = BY_CHANNELS ? vectors : vectors * to / parts;
    for (int64_t v = begin; v < end; v += STEP) block(x, w, out, phases, v, end - v < STEP ? end : v + STEP, t0, t1, scratch, in, image, group);
  }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const float *x = static_cast<const float*>(in[0]), *w = static_cast<const float*>(in[1]);
  float* prepared = static_cast<float*>(workspace);
  float* scratches = prepared + (PREPARED + 15) / 16 * 16;
  for (int64_t first = 0; first < N; first += TOGETHER) {
    const int64_t images = N - first < TOGETHER ? N - first : TOGETHER;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for collapse(2) schedule(static)
      for (int64_t plane = 0; plane < images * C; ++plane)
        for (int64_t d = 0; d < DQ; ++d) prepare_plane(x + (first * C + plane) * ID * IH * IW, prepared + plane * CHANNEL + d * PLANE, d);
      // Contiguous shares of all groups of all images, each of which is as many parts as there are threads.
      const int64_t threads = omp_get_num_threads(), from = images * G * omp_get_thread_num(), to = from + images * G;
      for (int64_t n = from / threads; n * threads < to; ++n) {
        const int64_t a = from > n * threads ? from - n * threads : 0, z = to < (n + 1) * threads ? to - n * threads : threads;
        const int64_t image = first + n / G, g = n % G;
        share(prepared + (n / G * C + g * CG) * CHANNEL, w, static_cast<float*>(out[0]) + (image * O + g * OG) * P, a, z, threads,
              scratches + omp_get_thread_num() * THREAD_FLOATS, in, image, g);
      }
    }
  }
}
