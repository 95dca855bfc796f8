// Depthwise convolution of u8 by i8: each output channel has one input channel, and few taps. No instruction adds up products of bytes of one channel, but floats hold
// their sums exactly: 255 * 128 * TAPS < 2^24 for up to 514 taps. A thread has one plane at a time, which it makes floats of, with its padding (conv_prepare.h).

static_assert(KD * KH * KW <= 514 && C == G, "sums are exact in fp32");
constexpr int64_t OG = O / G, TAPS = KD * KH * KW, FLAT = (OH - 1) * WQ + OW;
constexpr int64_t NR = NV * LANES, PLACES = ceil_div(FLAT, NR) * NR;
constexpr int64_t THREAD_PLANE = ceil_div(CHANNEL + NR, 16) * 16, THREAD_SUMS = PLACES + LANES, THREAD_WORDS = THREAD_PLANE + 2 * ceil_div(THREAD_SUMS, 16) * 16;

extern "C" size_t amdahl_workspace_bytes(void) { return 4 * THREADS * THREAD_WORDS; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}

// NR places of a depth from the first tap's on.
INLINE void sum_places(const float* x, const float (&w)[TAPS], ACC* sums) {
  Floats acc[NV];
  UNROLLED for (int v = 0; v < NV; ++v) acc[v] = Floats{};
  int64_t tap = 0;
  for (int64_t kd = 0; kd < KD; ++kd)
    for (int64_t kh = 0; kh < KH; ++kh)
      for (int64_t kw = 0; kw < KW; ++kw, ++tap) {
        const float* from = x + tap_offset(kd, kh, kw);
        UNROLLED for (int v = 0; v < NV; ++v) acc[v] += w[tap] * read_vector(from + v * LANES);
      }
  UNROLLED for (int v = 0; v < NV; ++v) store(sums + v * LANES, ints_of(acc[v]));
}

static void convolve(const void* const* in, out_t* out, int64_t n, int64_t c, float* plane, ACC* sums, ACC* pixels) {
  const uint8_t* x = static_cast<const uint8_t*>(in[0]) + (n * C + c) * ID * IH * IW;
  for (int64_t depth = 0; depth < DP; ++depth) prepare_plane(x, plane + depth * PLANE, depth);
  for (int64_t o = c * OG; o < (c + 1) * OG; ++o) {
    float w[TAPS];
    for (int64_t tap = 0; tap < TAPS; ++tap) w[tap] = static_cast<const int8_t*>(in[1])[o * TAPS + tap];
    for (int64_t od = 0; od < OD; ++od) {
      for (int64_t place = 0; place < PLACES; place += NR) sum_places(plane + od * SD * PLANE + place, w, sums + place);
      const int64_t kept = WQ == OW ? FLAT : keep_pixels(sums, 0, FLAT, pixels);
      finish_channel(in, out, n, o, od * OH * OW, WQ == OW ? sums : pixels, kept);
    }
  }
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
#pragma omp parallel for num_threads(THREADS) schedule(static)
  for (int64_t channel = 0; channel < N * C; ++channel) {
    float* plane = static_cast<float*>(workspace) + omp_get_thread_num() * THREAD_WORDS;
    ACC *sums = reinterpret_cast<ACC*>(plane + THREAD_PLANE), *pixels = sums + ceil_div(THREAD_SUMS, 16) * 16;
    for (int64_t i = CHANNEL; i < THREAD_PLANE; ++i) plane[i] = 0;  // read into lanes that are never stored: a number, whatever it is
    convolve(in, static_cast<out_t*>(out[0]), channel / C, channel % C, plane, sums, pixels);
  }
}
