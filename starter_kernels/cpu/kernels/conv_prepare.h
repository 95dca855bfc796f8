// Input planes with their padding made explicit, so that the loops over taps have neither branches nor masks.
//
// A plane of x (one channel, one depth) becomes PHASES_H * PHASES_W planes of HQ x WQ: padded row q * SH + ph and
// padded column j * SW + pw land at [ph][pw][q][j]. A tap (kh, kw) of output (oh, ow) then reads, for any stride,
//   plane[kh * DH % SH][kw * DW % SW] at (oh + kh * DH / SH) * WQ + ow + kw * DW / SW,
// which is contiguous in ow, and contiguous in the flat pixel oh * WQ + ow as well.

constexpr int64_t SPAN_D = (KD - 1) * DD + 1, SPAN_H = (KH - 1) * DH + 1, SPAN_W = (KW - 1) * DW + 1;
constexpr int64_t DP = (OD - 1) * SD + SPAN_D;           // padded depth
constexpr int64_t PHASES_H = SPAN_H < SH ? SPAN_H : SH;  // phases that no tap reads are not made
constexpr int64_t PHASES_W = SPAN_W < SW ? SPAN_W : SW;
constexpr int64_t HQ = OH + (SPAN_H - 1) / SH, WQ = OW + (SPAN_W - 1) / SW;
constexpr int64_t PHASE_SIZE = HQ * WQ, PLANE = PHASES_H * PHASES_W * PHASE_SIZE, CHANNEL = DP * PLANE;

constexpr int64_t tap_offset(int64_t kd, int64_t kh, int64_t kw) {
  return kd * DD * PLANE + (kh * DH % SH * PHASES_W + kw * DW % SW) * PHASE_SIZE + kh * DH / SH * WQ + kw * DW / SW;
}

// `depth` counts padded planes. Writes PLANE floats.
template <class T>
static void prepare_plane(const T* x_channel, float* to, int64_t depth) {
  const int64_t id = depth - PAD_D;
  for (int64_t ph = 0; ph < PHASES_H; ++ph)
    for (int64_t q = 0; q < HQ; ++q) {
      const int64_t ih = q * SH + ph - PAD_H;
      const bool inside = id >= 0 && id < ID && ih >= 0 && ih < IH;
      const T* row = x_channel + (id * IH + ih) * IW;
      for (int64_t pw = 0; pw < PHASES_W; ++pw) {
        float* line = to + ((ph * PHASES_W + pw) * HQ + q) * WQ;
        // Columns [first, end) lie in the input: 0 <= j * SW + pw - PAD_W < IW.
        int64_t first = PAD_W > pw ? (PAD_W - pw + SW - 1) / SW : 0;
        int64_t end = IW + PAD_W > pw ? (IW + PAD_W - pw + SW - 1) / SW : 0;
        if (end > WQ) end = WQ;
        if (!inside || first > end) first = end = 0;
        const T* from = row + pw - PAD_W;
        for (int64_t j = 0; j < first; ++j) line[j] = 0;
        for (int64_t j = first; j < end; ++j) line[j] = from[j * SW];
        for (int64_t j = end; j < WQ; ++j) line[j] = 0;
      }
    }
}
