// Before causal attention: of each head and tile of keys, whether all its values are finite. Blocks whose queries do not see the tile then leave it out.

enum : int { FINITE_THREADS = 128 };

extern "C" __global__ void __launch_bounds__(FINITE_THREADS) amdahl_kernel_1(const __grid_constant__ Operands o) {
  wait_for_producers();
  const int64_t head = blockIdx.x / KEY_TILES, t0 = blockIdx.x % KEY_TILES * KEYS;
  const Values v = values_of(o, head);
  int odd = 0;
  for (int64_t i = threadIdx.x; i < KEYS * DV; i += FINITE_THREADS) {
    const int64_t t = t0 + (V_COLUMN == 1 ? i / DV : i % KEYS), c = V_COLUMN == 1 ? i % DV : i / KEYS;
    if (t >= T) continue;
    const sum_t x = load_value<int64_t>(v, t, c);
    odd |= !(x - x == sum_t(0));
  }
  odd = __syncthreads_or(odd);
  if (threadIdx.x == 0) ((uint8_t*)o.workspace)[blockIdx.x] = !odd;
}

#define FINITE_LAUNCH {1, HEADS * KEY_TILES, 1, 1, FINITE_THREADS, 1, 1, 0}
