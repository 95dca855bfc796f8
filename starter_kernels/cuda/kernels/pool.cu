// Pooling over windows: maximum, or average with or without the padding counted. A thread has EACH outputs, THREADS apart: a warp's outputs are
// neighbours, and what their windows share comes from L1.

enum : int64_t { POINTS = N * C * OD * OH * OW };

static inline out_t pool(const x_t* x, int64_t point) {
  const int64_t plane = point / (OD * OH * OW), p = point % (OD * OH * OW);
  const int d0 = int(p / (OH * OW)) * int(SD) - int(PAD_D), h0 = int(p / OW % OH) * int(SH) - int(PAD_H), w0 = int(p % OW) * int(SW) - int(PAD_W);
  const Taps kd = taps_inside(d0, KD, DD, ID), kh = taps_inside(h0, KH, DH, IH), kw = taps_inside(w0, KW, DW, IW);
  sum_t sum = EMPTY;
  for (int d = kd.first; d < kd.end; ++d)
    for (int h = kh.first; h < kh.end; ++h) {
      const x_t* row = x + ((plane * ID + d0 + d * int(DD)) * IH + h0 + h * int(DH)) * IW + w0;
      for (int w = kw.first; w < kw.end; ++w) sum = join(sum, load_x(row[w * int(DW)]));
    }
  return finish_window(sum, counted(d0, KD, DD, ID, PAD_END_D) * counted(h0, KH, DH, IH, PAD_END_H) * counted(w0, KW, DW, IW, PAD_END_W));
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands o) {
  wait_for_producers();
  const int64_t first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
#pragma unroll
  for (int e = 0; e < EACH; ++e) {
    const int64_t point = first + e * THREADS;
    if (point < POINTS) ((out_t*)o.out[0])[point] = pool((const x_t*)o.in[0], point);
  }
}

TABLE Launch amdahl_launches[] = {{0, POINTS > 0 ? (POINTS + THREADS * EACH - 1) / (THREADS * EACH) : 1, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;
