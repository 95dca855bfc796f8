// Transposed convolution as convolutions with stride 1, none of which multiplies by the zeros that a stride would put between inputs. With q and r so
// that o + PAD = q * S + r, output o reads input q - k * D / S by the taps k of which k * D % S is r, and by no others. The outputs of one r in each dimension, a phase,
// are a matrix product over the phase's own taps,
//   out[o, p] = sum over (c, tap) of w[c, o, tap] * x[c, pixel p moved by the tap],
// of packed panels as in conv_im2col.cpp, and lie S apart.

constexpr int64_t CG = C / G, OG = O / G, TAPS = KD * KH * KW, P = OD * OH * OW, PHASES = SD * SH * SW;

// One dimension; `before` zeros in front of the input are for taps that reach there.
struct Axis {
  int64_t in, out, kernel, stride, dilation, pad;
  constexpr int64_t before() const { return (kernel - 1) * dilation / stride; }
  constexpr int64_t padded() const {
    const int64_t read = (out - 1 + pad) / stride + 1;
    return before() + (in > read ? in : read);
  }
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
constexpr int64_t MOST_K = CG * BY_PHASE.most, KB = KC < MOST_K ? KC : MOST_K;
constexpr int64_t O_TILES = (OG + MR - 1) / MR;
constexpr int64_t PREPARED = C * CHANNEL + VLEN;  // floats; a vector of slack for the last copy
constexpr int64_t PARTIAL = KB < MOST_K ? PANELS * O_TILES * MR * NR : 0;
constexpr int64_t PANEL = KB * NR + VLEN;
constexpr int64_t THREAD_FLOATS = (PANEL + PARTIAL + 31) / 16 * 16;

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

struct Phase {
  int64_t number, taps, k;                 // k: rows of its im2col matrix
  int64_t depths, rows, columns;           // outputs, by dimension
  int64_t first_d, first_h, first_w;       // the first of them
  int64_t start;                           // what the tap that moves nothing reads for it, in a prepared channel
  const int64_t* tap;

  explicit Phase(int64_t f) : number(f), taps(BY_PHASE.begin[f + 1] - BY_PHASE.begin[f]), k(CG * taps), tap(BY_PHASE.tap + BY_PHASE.begin[f]) {
    const int64_t rd = f / (SH * SW), rh = f / SW % SH, rw = f % SW;
    depths = DEPTH.count(rd), rows = HEIGHT.count(rh), columns = WIDTH.count(rw);
    first_d = DEPTH.first(rd), first_h = HEIGHT.first(rh), first_w = WIDTH.first(rw);
    start = DEPTH.start(rd) * PLANE + HEIGHT.start(rh) * WQ + WIDTH.start(rw);
  }
  int64_t pixels() const { return depths * rows * columns; }
};

// Parts of output rows in a panel of a phase's pixels: where each is read and written, and how long it is.
struct Pieces {
  int64_t count = 0, from[NR], to[NR], length[NR];

  Pieces(const Phase& f, int64_t p, int64_t n) {
    for (int64_t q = p; q < p + n;) {
      const int64_t w = q % f.columns, h = q / f.columns % f.rows, d = q / (f.columns * f.rows);
      const int64_t len = f.columns - w < p + n - q ? f.columns - w : p + n - q;
      from[count] = f.start + d * PLANE + h * WQ + w;
      to[count] = ((f.first_d + d * SD) * OH + f.first_h + h * SH) * OW + f.first_w + w * SW;
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

// Rows k0 … k0+kc of the phase's im2col matrix at these pixels, to b[k][NR]. Copies whole vectors: a piece's overhang is overwritten by the next
// one, the last one's falls in the slack.
static void pack_panel(const float* x, const Phase& f, const Pieces& pieces, float* b, int64_t k0, int64_t kc) {
  for (int64_t k = 0; k < kc; ++k) {
    const float* channel = x + (k0 + k) / f.taps * CHANNEL - moved_by_tap(f.tap[(k0 + k) % f.taps]);
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

// Pixels of a phase, SW apart in each piece, of channels o … of an image.
struct Apart {
  float* out;  // channel o of the image
  const void* const* in;
  int64_t image, o;
  const Pieces& pieces;

  template <int COUNT>
  void whole(int m, const float* sums) const {
    part(m, sums, COUNT);
  }
  void part(int m, const float* sums, int64_t) const {
    for (int64_t piece = 0; piece < pieces.count; ++piece) {
      const int64_t len = pieces.length[piece], p = pieces.to[piece];
      for (int64_t j = 0; j < len; ++j) out[m * P + p + j * SW] = finish(sums[j], in, image, o + m, p + j * SW);
      sums += len;
    }
  }
};

// Pixel vectors [v0, v1) and channel tiles [t0, t1) of one image, phase and group. A phase without taps has its epilogue.
static void block(const float* x, const float* w, float* out, const Phase& f, int64_t v0, int64_t v1, int64_t t0, int64_t t1, float* scratch,
                  const void* const* in, int64_t image, int64_t group) {
  float* b = scratch;
  float* partials = scratch + PANEL;
  for (int64_t block0 = v0; block0 < v1; block0 += PANELS * NV)
    for (int64_t k0 = 0; k0 == 0 || k0 < f.k; k0 += KB) {
      const int64_t kc = f.k - k0 < KB ? f.k - k0 : KB;
      for (int64_t panel = 0; panel < PANELS; ++panel) {
        const int64_t v = block0 + panel * NV;
        if (v >= v1) break;
        const int64_t vecs = v1 - v < NV ? v1 - v : NV, p = v * VLEN;
        const int64_t n = f.pixels() - p < vecs * VLEN ? f.pixels() - p : vecs * VLEN;
        const Pieces pieces(f, p, n);
        pack_panel(x, f, pieces, b, k0, kc);
        for (int64_t t = t0; t < t1; ++t) {
          float* partial = partials + (panel * O_TILES + t) * MR * NR;
          const Apart pixels{out + t * MR * P, in, image, group * OG + t * MR, pieces};
          const float* weights = w + (t * f.k + k0) * MR;
          if (OG % MR != 0 && t == O_TILES - 1)
            tile_of<Weights, OG % MR ? OG % MR : MR>(vecs, weights, b, kc, partial, k0 == 0, k0 + kc == f.k, n, pixels);
          else
            tile_of<Weights, MR>(vecs, weights, b, kc, partial, k0 == 0, k0 + kc == f.k, n, pixels);
        }
      }
    }
}

// This thread's share of a phase: contiguous pixel vectors (or channel tiles) over all groups.
static void share(const float* prepared, const float* w, float* out, const Phase& f, int64_t me, int64_t threads, float* scratch, const void* const* in,
                  int64_t image) {
  const int64_t vectors = (f.pixels() + VLEN - 1) / VLEN, unit = BY_CHANNELS ? O_TILES : vectors;
  if (vectors == 0) return;
  const int64_t from = G * unit * me / threads, to = G * unit * (me + 1) / threads;
  for (int64_t g = from / unit; g * unit < to; ++g) {
    const int64_t a = from > g * unit ? from - g * unit : 0, z = to < (g + 1) * unit ? to - g * unit : unit;
    block(prepared + g * CG * CHANNEL, w + (G * BY_PHASE.begin[f.number] + g * f.taps) * O_TILES * CG * MR, out + g * OG * P, f,
          BY_CHANNELS ? 0 : a, BY_CHANNELS ? vectors : z, BY_CHANNELS ? a : 0, BY_CHANNELS ? z : O_TILES, scratch, in, image, g);
  }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const float *x = static_cast<const float*>(in[0]), *w = static_cast<const float*>(in[1]);
  float* prepared = static_cast<float*>(workspace);
  float* scratches = prepared + (PREPARED + 15) / 16 * 16;
  for (int64_t image = 0; image < N; ++image) {
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for collapse(2) schedule(static)
      for (int64_t c = 0; c < C; ++c)
        for (int64_t d = 0; d < DQ; ++d) prepare_plane(x + (image * C + c) * ID * IH * IW, prepared + c * CHANNEL + d * PLANE, d);
      const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
      for (int64_t f = 0; f < PHASES; ++f)
        share(prepared, w, static_cast<float*>(out[0]) + image * O * P, Phase(f), me, threads, scratches + me * THREAD_FLOATS, in, image);
    }
  }
}
