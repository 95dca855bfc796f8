// UPDATES of SLICE elements each to PLACES of a copy of data, in order where two meet.
//
// Of those that replace, the last counts: it is found first, with the largest number, in the workspace, then all write at once. Those that are combined go
// in RUNS, a thread each, which never meet; of a run STEPS are taken in order.

// By ONNX: none, add, mul, max, min.
template <class T> static inline T reduced(T old_element, T update) {
  typedef typename arithmetic<T>::type A;
  const A a = number(old_element), b = number(update);
  switch (REDUCTION) {
    case 1: return (T)A(a + b);
    case 2: return (T)A(a * b);
    case 3: return is_nan(a) || is_nan(b) ? (T)A(a + b) : (T)(a > b ? a : b);
    case 4: return is_nan(a) || is_nan(b) ? (T)A(a + b) : (T)(a < b ? a : b);
  }
  return update;
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  for_each(OUT0_SIZE, [&](int64_t n) { ((OUT0_t*)operands.out[0])[n] = ((const IN0_t*)operands.in[0])[n]; });
  if (REDUCTION == 0) for_each(PLACES, [&](int64_t n) { ((int64_t*)operands.workspace)[n] = -1; });
}

#if REDUCTION == 0

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_1(const __grid_constant__ Operands operands) {
  wait_for_producers();
  int64_t* last = (int64_t*)operands.workspace;
  for_each(UPDATES, [&](int64_t u) { atomicMax(last + place_of(operands.in, u), u); });
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_2(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const int64_t* last = (const int64_t*)operands.workspace;
  for_each(UPDATES * SLICE, [&](int64_t n) {
    const int64_t update = n / SLICE, place = place_of(operands.in, update);
    if (last[place] == update) ((OUT0_t*)operands.out[0])[place * SLICE + n % SLICE] = ((const IN2_t*)operands.in[2])[n];
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(OUT0_SIZE), 1, 1, THREADS, 1, 1, 0},
                                  {1, blocks_for(UPDATES), 1, 1, THREADS, 1, 1, 0},
                                  {2, blocks_for(UPDATES * SLICE), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = PLACES * sizeof(int64_t);

#else

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_1(const __grid_constant__ Operands operands) {
  wait_for_producers();
  OUT0_t* y = (OUT0_t*)operands.out[0];
  for_each(RUNS, [&](int64_t run) {
    for (int64_t step = 0; step < STEPS; ++step) {
      const int64_t update = update_of(run, step), at = place_of(operands.in, update) * SLICE + element_of(run);
      y[at] = reduced(y[at], ((const IN2_t*)operands.in[2])[update * SLICE + element_of(run)]);
    }
  });
}

TABLE Launch amdahl_launches[] = {{0, blocks_for(OUT0_SIZE), 1, 1, THREADS, 1, 1, 0}, {1, blocks_for(RUNS), 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = 0;

#endif
