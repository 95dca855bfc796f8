// Where output positions see the input: what the products that gather it have in common. Row-major operands.

enum : int64_t { CG = C / G, OG = O / G, IN_PIXELS = ID * IH * IW, PIXELS = OD * OH * OW, POSITIONS = N * PIXELS };
enum : int { TAPS = KD * KH * KW, K = CG * TAPS };
// Whether some window leaves the input.
enum : bool {
  LEAVES = PAD_D > 0 || PAD_H > 0 || PAD_W > 0 || (OD - 1) * SD + (KD - 1) * DD >= ID || (OH - 1) * SH + (KH - 1) * DH >= IH ||
           (OW - 1) * SW + (KW - 1) * DW >= IW
};

struct Position {
  const x_t* at;  // the first tap in the group's first channel: may lie before the input
  int d, h, w;
  bool inside;    // of the output
};

static inline Position position(const x_t* x, int64_t group, int64_t p) {
  Position it = {x, 0, 0, 0, p < POSITIONS};
  if (it.inside) {
    const int pixel = p % PIXELS;
    it.d = pixel / int(OH * OW) * int(SD) - int(PAD_D);
    it.h = pixel / int(OW) % int(OH) * int(SH) - int(PAD_H);
    it.w = pixel % int(OW) * int(SW) - int(PAD_W);
    it.at = x + (p / PIXELS * C + group * CG) * IN_PIXELS + (it.d * IH + it.h) * IW + it.w;
  }
  return it;
}

// What the tap sees in the group's first channel; null beside the input.
static inline const x_t* seen(const Position& p, int tap) {
  const int d = tap / int(KH * KW) * int(DD), h = tap / int(KW) % int(KH) * int(DH), w = tap % int(KW) * int(DW);
  const bool there = p.inside && (!LEAVES || (unsigned(p.d + d) < unsigned(ID) && unsigned(p.h + h) < unsigned(IH) && unsigned(p.w + w) < unsigned(IW)));
  return there ? p.at + ((d * int(IH) + h) * int(IW) + w) : nullptr;
}
