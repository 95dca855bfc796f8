// What a product that copies boxes multiplies, where it is a convolution of images whose channels are adjacent: a row is a window of the output, K are the
// taps, of each as many channels as whole lines hold: zeros behind the last.

enum : int { CHANNELS_OF_TAP = (CHANNELS + LINE - 1) / LINE * LINE, WINDOWS = OUT_W * OUT_H };

static inline void copy_tile_of_a(void* to, const TensorMap* map, int64_t k, int64_t m, uint64_t* barrier) {
  const int tap = int(k) / CHANNELS_OF_TAP, channel = int(k) % CHANNELS_OF_TAP, image = int(m / WINDOWS), window = int(m % WINDOWS);
  copy_box_of_windows(to, map, channel, window % int(OUT_W) * int(STEP_W) - int(PAD_W), window / int(OUT_W) * int(STEP_H) - int(PAD_H), image,
                      tap % int(TAPS_W) * int(DILATION_W), tap / int(TAPS_W) * int(DILATION_H), barrier);
}
static inline uint16_t element_of_b(const void* b, int64_t k, int64_t n) {
  const int64_t tap = k / CHANNELS_OF_TAP, channel = k % CHANNELS_OF_TAP;
  return channel < CHANNELS ? ((const uint16_t*)b)[(n * CHANNELS + channel) * (TAPS_W * TAPS_H) + tap] : uint16_t(0);
}

TABLE Boxes amdahl_boxes[] = {{0, 0, IMAGES * IN_W * IN_H, CHANNELS, CHANNELS * 2, TILE_M, LINE, IN_W, IN_H, STEP_W, STEP_H, -int32_t(PAD_W), -int32_t(PAD_H),
                               LAST_W, LAST_H}};
