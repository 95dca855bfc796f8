// LSTM, GRU and RNN in two launches: what X gives to the gates of all steps, then the steps, of which a block does those of one row in one direction.
//
// A warp sums up a gate of a unit, its lanes side by side along the row of weights; its first lane does the rest. States lie in the workspace: a block
// reads what it wrote before a barrier.
enum : bool { IS_LSTM = CELL == 'l', IS_GRU = CELL == 'g' };
enum : long long {
  WARPS = THREADS / 32,
  X_ROWS = LENGTH * BATCH,
  GIVEN = DIRECTIONS * X_ROWS * GATES * HIDDEN,
  STATES = 5 * HIDDEN,  // of a row in one direction: h before and after a step, an LSTM's cell; of a GRU the update gate and what is reset
  BLOCKS = (GIVEN + WARPS - 1) / WARPS < 65536 ? (GIVEN + WARPS - 1) / WARPS : 65536
};

template <class T> static inline real number(T x) {
  if constexpr (sizeof(T) == sizeof(real)) return real(x);
  else return to_real(x);
}

// The sum of a[i] * w[i], which every lane of the warp gets.
template <class A> static inline real dot(const A* a, const value_t* w, int64_t n) {
  real sum = 0;
  for (int64_t i = threadIdx.x % 32; i < n; i += 32) sum += number(a[i]) * to_real(w[i]);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

// The bias of a gate: W's, or R's half.
static inline real bias(const Operands& operands, int64_t d, int64_t half, int64_t gate, int64_t unit) {
  return IN_B < 0 ? real(0) : to_real(((const value_t*)operands.in[IN_B < 0 ? 0 : IN_B])[((d * 2 + half) * GATES + gate) * HIDDEN + unit]);
}

// Gates [row of X][gate][unit] of a direction.
static inline real* given_of(const Operands& operands, int64_t d) { return (real*)operands.workspace + d * X_ROWS * GATES * HIDDEN; }

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_0(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const value_t* x = (const value_t*)operands.in[0];
  const value_t* w = (const value_t*)operands.in[1];
  for (int64_t n = blockIdx.x * WARPS + threadIdx.x / 32; n < GIVEN; n += gridDim.x * WARPS) {
    const int64_t column = n % (GATES * HIDDEN), row = n / (GATES * HIDDEN) % X_ROWS, d = n / (GATES * HIDDEN * X_ROWS);
    const real sum = dot(x + row * INPUT, w + (d * GATES * HIDDEN + column) * INPUT, INPUT);
    if (threadIdx.x % 32 == 0) given_of(operands, d)[row * GATES * HIDDEN + column] = sum + bias(operands, d, 0, column / HIDDEN, column % HIDDEN);
  }
}

// One row in one direction.
struct Row {
  const Operands& operands;
  int64_t d, b;
  real* states;

  inline real* h(int64_t t) const { return states + t % 2 * HIDDEN; }
  inline real* cell() const { return states + 2 * HIDDEN; }
  inline real* update() const { return states + 3 * HIDDEN; }
  inline real* reset() const { return states + 4 * HIDDEN; }
};

static inline real recurrent(const Row& row, const real* state, int64_t gate, int64_t unit) {
  const value_t* r = (const value_t*)row.operands.in[2] + ((row.d * GATES + gate) * HIDDEN + unit) * HIDDEN;
  return dot(state, r, HIDDEN) + bias(row.operands, row.d, 1, gate, unit);
}

static inline real peephole(const Row& row, int64_t which, int64_t unit, real cell) {
  return IN_P < 0 ? real(0) : to_real(((const value_t*)row.operands.in[IN_P < 0 ? 0 : IN_P])[(row.d * 3 + which) * HIDDEN + unit]) * cell;
}

// h of a unit after the step, for the first lane.
static inline real lstm_unit(const Row& row, const real* given, const real* h, int64_t unit) {
  real gates[4];
#pragma unroll
  for (int g = 0; g < 4; ++g) gates[g] = given[(g < GATES ? g : 0) * HIDDEN + unit] + recurrent(row, h, g < GATES ? g : 0, unit);
  if (threadIdx.x % 32 != 0) return 0;
  real* cell = row.cell() + unit;
  const real before = *cell;
  const real in = act_f(row.d, clipped(gates[0] + peephole(row, 0, unit, before)));
  const real forget = INPUT_FORGET ? real(1) - in : act_f(row.d, clipped(gates[2] + peephole(row, 2, unit, before)));
  const real now = forget * before + in * act_g(row.d, clipped(gates[3]));
  *cell = now;
  return act_f(row.d, clipped(gates[1] + peephole(row, 1, unit, now))) * act_h(row.d, now);
}

static inline void gru_gates(const Row& row, const real* given, const real* h, int64_t unit) {
  const real of_update = given[unit] + recurrent(row, h, 0, unit), of_reset = given[HIDDEN + unit] + recurrent(row, h, 1, unit);
  if (threadIdx.x % 32 != 0) return;
  const real reset = act_f(row.d, clipped(of_reset));
  row.update()[unit] = act_f(row.d, clipped(of_update));
  row.reset()[unit] = LINEAR_BEFORE_RESET ? reset : reset * h[unit];
}

static inline real gru_unit(const Row& row, const real* given, const real* h, int64_t unit) {
  const real inner = recurrent(row, LINEAR_BEFORE_RESET ? h : row.reset(), 2, unit);
  if (threadIdx.x % 32 != 0) return 0;
  const real update = row.update()[unit];
  const real candidate = act_g(row.d, clipped(given[2 * HIDDEN + unit] + (LINEAR_BEFORE_RESET ? row.reset()[unit] * inner : inner)));
  return (real(1) - update) * candidate + update * h[unit];
}

static inline void step(const Row& row, int64_t t) {
  const Operands& operands = row.operands;
  const int64_t at = position(operands.in, row.d, t, row.b), warp = threadIdx.x / 32;
  const real* given = given_of(operands, row.d) + x_row(at < 0 ? 0 : at, row.b) * GATES * HIDDEN;
  const real* h = row.h(t);
  value_t* y = OUT_Y < 0 ? nullptr : (value_t*)operands.out[OUT_Y < 0 ? 0 : OUT_Y] + y_row(at < 0 ? t : at, row.d, row.b);
  if (IS_GRU && at >= 0) {
    for (int64_t unit = warp; unit < HIDDEN; unit += WARPS) gru_gates(row, given, h, unit);
    __syncthreads();
  }
  for (int64_t unit = warp; unit < HIDDEN; unit += WARPS) {
    real next;
    if (at < 0) next = h[unit];  // the row has ended
    else if constexpr (IS_LSTM) next = lstm_unit(row, given, h, unit);
    else if constexpr (IS_GRU) next = gru_unit(row, given, h, unit);
    else next = act_f(row.d, clipped(given[unit] + recurrent(row, h, 0, unit)));
    if (threadIdx.x % 32 != 0) continue;
    row.h(t + 1)[unit] = next;
    if (y) y[unit] = to_value(at < 0 ? real(0) : next);
  }
  __syncthreads();
}

static inline void begin(const Row& row, int64_t input, real* state) {
  const value_t* from = (const value_t*)row.operands.in[input < 0 ? 0 : input] + state_row(row.d, row.b);
  for (int64_t unit = threadIdx.x; unit < HIDDEN; unit += THREADS) state[unit] = input < 0 ? real(0) : to_real(from[unit]);
}

static inline void end(const Row& row, int64_t output, const real* state) {
  if (output < 0) return;
  value_t* to = (value_t*)row.operands.out[output] + state_row(row.d, row.b);
  for (int64_t unit = threadIdx.x; unit < HIDDEN; unit += THREADS) to[unit] = to_value(state[unit]);
}

extern "C" __global__ void __launch_bounds__(THREADS) amdahl_kernel_1(const __grid_constant__ Operands operands) {
  wait_for_producers();
  const int64_t n = blockIdx.x;
  const Row row = {operands, n / BATCH, n % BATCH, (real*)operands.workspace + GIVEN + n * STATES};
  begin(row, IN_H, row.h(0));
  if (IS_LSTM) begin(row, IN_C, row.cell());
  __syncthreads();
  for (int64_t t = 0; t < LENGTH; ++t) step(row, t);
  end(row, OUT_H, row.h(LENGTH));
  if (IS_LSTM) end(row, OUT_C, row.cell());
}

TABLE Launch amdahl_launches[] = {{0, BLOCKS, 1, 1, THREADS, 1, 1, 0}, {1, DIRECTIONS * BATCH, 1, 1, THREADS, 1, 1, 0}};
TABLE uint64_t amdahl_workspace_bytes = (GIVEN + DIRECTIONS * BATCH * STATES) * sizeof(real);
