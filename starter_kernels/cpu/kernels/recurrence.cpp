// LSTM, GRU and RNN. What X gives to the gates of all steps is one product; then the steps follow one another, each with a product of the state.
//
// A tile is WIDTH neighbouring hidden units with all their gates: weights are packed so that a step of a product reads its gates side by side, and what comes
// out is a vector a gate, on which the unit's activations work. The last gate of a GRU is a product of its own, since it reads the state after it is reset.

// ---- sizes -----------------------------------------------------------------------------------------------------------

constexpr int64_t WIDTH = UNITS * LANES, TILES = ceil_div(HIDDEN, WIDTH), X_ROWS = LENGTH * BATCH;
constexpr bool IS_LSTM = CELL == 'l', IS_GRU = CELL == 'g';
constexpr int64_t FIRST_GATES = IS_GRU ? 2 : GATES;  // those of the first product
constexpr int64_t BIASES = GATES + LINEAR_BEFORE_RESET;  // of a tile, WIDTH each; the last is inside of what is reset

constexpr int64_t packed_size(int64_t depth) { return DIRECTIONS * TILES * depth * GATES * WIDTH; }
// Of a direction's tile, the first product's gates; those of the last one come after all tiles.
constexpr int64_t first_at(int64_t depth, int64_t d, int64_t tile) { return (d * TILES * GATES + tile * FIRST_GATES) * depth * WIDTH; }
constexpr int64_t last_at(int64_t depth, int64_t d, int64_t tile) { return (d * TILES * GATES + TILES * FIRST_GATES + tile) * depth * WIDTH; }
constexpr int64_t bias_at(int64_t d, int64_t tile) { return (d * TILES + tile) * BIASES * WIDTH; }
// What X gives to the gates of a tile at one of its rows.
constexpr int64_t given_at(int64_t d, int64_t tile, int64_t row) { return ((d * TILES + tile) * X_ROWS + row) * GATES * WIDTH; }

// ---- packing ---------------------------------------------------------------------------------------------------------

// Gates [first, first + gates) of a tile from w [GATES * HIDDEN, depth]; units that are not there weigh nothing.
static void pack_gates(const value_t* w, int64_t depth, int64_t tile, int64_t first, int64_t gates, real* to) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t g = 0; g < gates; ++g)
      for (int64_t i = 0; i < WIDTH; ++i) {
        const int64_t unit = tile * WIDTH + i;
        to[(k * gates + g) * WIDTH + i] = unit < HIDDEN ? to_real(w[((first + g) * HIDDEN + unit) * depth + k]) : real(0);
      }
}

static void pack_weights(const value_t* w, int64_t depth, real* to) {
#pragma omp parallel for num_threads(THREADS) if (packed_size(depth) > 100000)
  for (int64_t n = 0; n < DIRECTIONS * TILES; ++n) {
    const int64_t d = n / TILES, tile = n % TILES;
    const value_t* from = w + d * GATES * HIDDEN * depth;
    pack_gates(from, depth, tile, 0, FIRST_GATES, to + first_at(depth, d, tile));
    if (IS_GRU) pack_gates(from, depth, tile, 2, 1, to + last_at(depth, d, tile));
  }
}

// Both biases of a gate in one, but for what a GRU resets.
static void pack_biases(const value_t* b, real* to) {
  for (int64_t d = 0; d < DIRECTIONS; ++d)
    for (int64_t unit = 0; unit < TILES * WIDTH; ++unit) {
      real* at = to + bias_at(d, unit / WIDTH) + unit % WIDTH;
      for (int64_t g = 0; g < GATES; ++g) {
        const value_t* of = b + (d * 2 * GATES + g) * HIDDEN + unit;
        const bool inside = LINEAR_BEFORE_RESET && g == 2;
        at[g * WIDTH] = unit < HIDDEN ? to_real(of[0]) + (inside ? real(0) : to_real(of[GATES * HIDDEN])) : real(0);
        if (inside) at[3 * WIDTH] = unit < HIDDEN ? to_real(of[GATES * HIDDEN]) : real(0);
      }
    }
}

// ---- workspace -------------------------------------------------------------------------------------------------------

constexpr int64_t lines(int64_t numbers) { return ceil_div(numbers, 16) * 16; }
constexpr int64_t STATE = lines(BATCH * HIDDEN);

// Whatever is no constant is packed into the workspace, and so are an X of half floats and biases that are not there.
constexpr int64_t GIVEN_AT = 0, STATES_AT = GIVEN_AT + lines(DIRECTIONS * TILES * X_ROWS * GATES * WIDTH);
constexpr int64_t W_AT = STATES_AT + DIRECTIONS * 5 * STATE, R_AT = W_AT + (W_IS_CONSTANT ? 0 : lines(packed_size(INPUT)));
constexpr int64_t B_AT = R_AT + (R_IS_CONSTANT ? 0 : lines(packed_size(HIDDEN)));
constexpr int64_t X_AT = B_AT + (B_IS_CONSTANT ? 0 : lines(DIRECTIONS * TILES * BIASES * WIDTH));
constexpr int64_t WORKSPACE = X_AT + (sizeof(value_t) == sizeof(real) ? 0 : lines(X_ROWS * INPUT));

struct Call {
  const void* const* in;
  void* const* out;
  const real *x, *w, *r, *b;
  real* given;
  real* states;

  // Of a direction: h before and after a step, then a GRU's reset state and update gate, or an LSTM's cell.
  real* h(int64_t d, int64_t t) const { return states + (d * 5 + t % 2) * STATE; }
  real* cell(int64_t d) const { return states + (d * 5 + 2) * STATE; }
  real* reset(int64_t d) const { return states + (d * 5 + 3) * STATE; }
  real* update(int64_t d) const { return states + (d * 5 + 4) * STATE; }
};

static Call prepare(const void* const* in, void* const* out, real* workspace) {
  const real* x = (const real*)in[0];
  if (sizeof(value_t) != sizeof(real)) {
    for (int64_t i = 0; i < X_ROWS * INPUT; ++i) workspace[X_AT + i] = to_real(((const value_t*)in[0])[i]);
    x = workspace + X_AT;
  }
  if (!W_IS_CONSTANT) pack_weights((const value_t*)in[1], INPUT, workspace + W_AT);
  if (!R_IS_CONSTANT) pack_weights((const value_t*)in[2], HIDDEN, workspace + R_AT);
  if (IN_B < 0) memset(workspace + B_AT, 0, sizeof(real) * DIRECTIONS * TILES * BIASES * WIDTH);
  else if (!B_IS_CONSTANT) pack_biases((const value_t*)in[max_of(IN_B, 0)], workspace + B_AT);
  return {in,
          out,
          x,
          W_IS_CONSTANT ? (const real*)in[1] : workspace + W_AT,
          R_IS_CONSTANT ? (const real*)in[2] : workspace + R_AT,
          B_IS_CONSTANT ? (const real*)in[max_of(IN_B, 0)] : workspace + B_AT,
          workspace + GIVEN_AT,
          workspace + STATES_AT};
}

// ---- products --------------------------------------------------------------------------------------------------------

// to = from + a w: of COUNT rows of a and of G gates of a tile. Rows of `to` and `from` are STRIDE and FROM_STRIDE apart.
template <int COUNT, int G, int64_t DEPTH, int64_t TO_STRIDE, int64_t FROM_STRIDE>
INLINE void multiply(const real* a, const real* w, const real* from, real* to) {
  Vec sums[COUNT][G * UNITS];
  multiply_tile<COUNT, G * UNITS, DEPTH, 1, G * WIDTH>(a, w, DEPTH, nullptr, sums);
  UNROLLED for (int r = 0; r < COUNT; ++r) {
    UNROLLED for (int v = 0; v < G * UNITS; ++v) store(to + r * TO_STRIDE + v * LANES, sums[r][v] + load(from + r * FROM_STRIDE + v * LANES));
  }
}

// What rows [row, row + COUNT) of X give to a tile's gates, biases with it.
template <int COUNT>
static void give(const Call& call, int64_t d, int64_t tile, int64_t row) {
  const real* x = call.x + row * INPUT;
  const real* bias = call.b + bias_at(d, tile);
  real* to = call.given + given_at(d, tile, row);
  multiply<COUNT, FIRST_GATES, INPUT, GATES * WIDTH, 0>(x, call.w + first_at(INPUT, d, tile), bias, to);
  if constexpr (IS_GRU) multiply<COUNT, 1, INPUT, GATES * WIDTH, 0>(x, call.w + last_at(INPUT, d, tile), bias + 2 * WIDTH, to + 2 * WIDTH);
}

static void give_all(const Call& call) {
  constexpr int64_t BLOCKS = ceil_div(X_ROWS, ROWS), LEFT = X_ROWS % ROWS;
  constexpr int64_t PARTS = min_of(ceil_div(4 * THREADS, DIRECTIONS * TILES), BLOCKS);  // of the rows: where there are few tiles
  constexpr bool WORTH_THREADS = THREADS > 1 && X_ROWS * DIRECTIONS * GATES * HIDDEN * INPUT > 300000;
  const auto part = [&](int64_t n) {
    const int64_t d = n / PARTS / TILES, tile = n / PARTS % TILES, p = n % PARTS;
    for (int64_t block = p * BLOCKS / PARTS; block < (p + 1) * BLOCKS / PARTS; ++block) {
      if (LEFT == 0 || block < BLOCKS - 1) give<ROWS>(call, d, tile, block * ROWS);
      if constexpr (LEFT > 0)
        if (block == BLOCKS - 1) give<LEFT>(call, d, tile, block * ROWS);
    }
  };
#pragma omp parallel for schedule(static) num_threads(THREADS) if (WORTH_THREADS)
  for (int64_t n = 0; n < DIRECTIONS * TILES * PARTS; ++n) part(n);
}

// ---- steps -----------------------------------------------------------------------------------------------------------

// A tile of row b at a step: its units, where the row is, and what its gates sum up to.
struct Place {
  int64_t d, b, unit, count, at;  // at: the position in X and Y; -1: the row has ended

  int64_t state() const { return b * HIDDEN + unit; }
};

static inline const value_t* peepholes(const Call& call, const Place& p, int64_t which) {
  return IN_P < 0 ? nullptr : (const value_t*)call.in[max_of(IN_P, 0)] + (p.d * 3 + which) * HIDDEN + p.unit;
}

static void lstm_units(const Call& call, const Place& p, const real* __restrict gates, real* __restrict next) {
  real* __restrict cell = call.cell(p.d) + p.state();
  const value_t *of_in = peepholes(call, p, 0), *of_out = peepholes(call, p, 1), *of_forget = peepholes(call, p, 2);
  const auto peep = [](const value_t* weights, int64_t i, real c) { return IN_P < 0 ? real(0) : to_real(weights[i]) * c; };
#pragma omp simd
  for (int64_t i = 0; i < p.count; ++i) {
    const real before = cell[i];
    const real in = act_f(p.d, clipped(gates[i] + peep(of_in, i, before)));
    const real forget = INPUT_FORGET ? real(1) - in : act_f(p.d, clipped(gates[2 * WIDTH + i] + peep(of_forget, i, before)));
    const real now = forget * before + in * act_g(p.d, clipped(gates[3 * WIDTH + i]));
    cell[i] = now;
    next[i] = act_f(p.d, clipped(gates[WIDTH + i] + peep(of_out, i, now))) * act_h(p.d, now);
  }
}

static void rnn_units(const Place& p, const real* __restrict gates, real* __restrict next) {
#pragma omp simd
  for (int64_t i = 0; i < p.count; ++i) next[i] = act_f(p.d, clipped(gates[i]));
}

// A GRU's update and reset gates. `inner`: what is reset, with LINEAR_BEFORE_RESET.
static void gru_gates(const Call& call, const Place& p, const real* __restrict gates, const real* __restrict h) {
  real* __restrict update = call.update(p.d) + p.state();
  real* __restrict reset = call.reset(p.d) + p.state();
#pragma omp simd
  for (int64_t i = 0; i < p.count; ++i) {
    update[i] = act_f(p.d, clipped(gates[i]));
    const real r = act_f(p.d, clipped(gates[WIDTH + i]));
    reset[i] = LINEAR_BEFORE_RESET ? r : r * h[i];
  }
}

// And its last one; `given` is added here where it is not in the sum yet.
static void gru_units(const Call& call, const Place& p, const real* __restrict sum, const real* __restrict given, const real* __restrict h,
                      real* __restrict next) {
  const real* __restrict update = call.update(p.d) + p.state();
  const real* __restrict reset = call.reset(p.d) + p.state();
#pragma omp simd
  for (int64_t i = 0; i < p.count; ++i) {
    const real candidate = act_g(p.d, clipped(LINEAR_BEFORE_RESET ? given[i] + reset[i] * sum[i] : sum[i]));
    next[i] = (real(1) - update[i]) * candidate + update[i] * h[i];
  }
}

static void write_y(const Call& call, const Place& p, int64_t at, const real* h) {
  if (OUT_Y < 0) return;
  value_t* y = (value_t*)call.out[max_of(OUT_Y, 0)] + y_row(at, p.d, p.b) + p.unit;
  for (int64_t i = 0; i < p.count; ++i) y[i] = h ? to_value(h[i]) : to_value(0);
}

// A row that has ended keeps its state; what Y has of it from here on is zero.
static void pass_over(const Call& call, const Place& p, int64_t t) {
  memcpy(call.h(p.d, t + 1) + p.state(), call.h(p.d, t) + p.state(), sizeof(real) * p.count);
  write_y(call, p, t, nullptr);
}

// Rows [b, b + COUNT) of a tile at step t. LAST: the last gate of a GRU, once all units are reset.
template <int COUNT, bool LAST>
static void step_rows(const Call& call, int64_t d, int64_t t, int64_t tile, int64_t b) {
  constexpr int G = LAST ? 1 : FIRST_GATES;
  alignas(64) real sums[COUNT][GATES * WIDTH], start[COUNT][G * WIDTH];
  Place places[COUNT];
  for (int r = 0; r < COUNT; ++r) {
    const int64_t at = position(call.in, d, t, b + r);
    places[r] = {d, b + r, tile * WIDTH, min_of(WIDTH, HIDDEN - tile * WIDTH), at};
    const real* given = call.given + given_at(d, tile, x_row(at < 0 ? 0 : at, b + r)) + (LAST ? 2 * WIDTH : 0);
    memcpy(start[r], LAST && LINEAR_BEFORE_RESET ? call.b + bias_at(d, tile) + 3 * WIDTH : given, sizeof(start[r]));
  }
  const real* state = (LAST && !LINEAR_BEFORE_RESET ? call.reset(d) : call.h(d, t)) + b * HIDDEN;
  multiply<COUNT, G, HIDDEN, GATES * WIDTH, G * WIDTH>(state, call.r + (LAST ? last_at(HIDDEN, d, tile) : first_at(HIDDEN, d, tile)), start[0], sums[0]);
  for (int r = 0; r < COUNT; ++r) {
    const Place& p = places[r];
    const real* h = call.h(d, t) + p.state();
    real* next = call.h(d, t + 1) + p.state();
    if (p.at < 0) {
      pass_over(call, p, t);
      continue;
    }
    if (IS_LSTM) lstm_units(call, p, sums[r], next);
    else if (!IS_GRU) rnn_units(p, sums[r], next);
    else if (LAST) gru_units(call, p, sums[r], call.given + given_at(d, tile, x_row(p.at, p.b)) + 2 * WIDTH, h, next);
    else gru_gates(call, p, sums[r], h);
    if (LAST || !IS_GRU) write_y(call, p, p.at, next);
  }
}

template <bool LAST>
static void step_tile(const Call& call, int64_t d, int64_t t, int64_t tile) {
  constexpr int64_t LEFT = BATCH % ROWS;
  for (int64_t b = 0; b + ROWS <= BATCH; b += ROWS) step_rows<ROWS, LAST>(call, d, t, tile, b);
  if constexpr (LEFT > 0) step_rows<LEFT, LAST>(call, d, t, tile, BATCH - LEFT);
}

// What the states begin with, and what becomes of them.
static void begin_tile(const Call& call, int64_t d, int64_t tile) {
  const auto begin = [&](int64_t input, real* state) {
    for (int64_t b = 0; b < BATCH; ++b)
      for (int64_t i = tile * WIDTH; i < min_of(HIDDEN, (tile + 1) * WIDTH); ++i)
        state[b * HIDDEN + i] = input < 0 ? real(0) : to_real(((const value_t*)call.in[max_of(input, 0)])[state_row(d, b) + i]);
  };
  begin(IN_H, call.h(d, 0));
  if (IS_LSTM) begin(IN_C, call.cell(d));
}

static void end_tile(const Call& call, int64_t d, int64_t tile) {
  const auto end = [&](int64_t output, const real* state) {
    for (int64_t b = 0; output >= 0 && b < BATCH; ++b)
      for (int64_t i = tile * WIDTH; i < min_of(HIDDEN, (tile + 1) * WIDTH); ++i)
        ((value_t*)call.out[max_of(output, 0)])[state_row(d, b) + i] = to_value(state[b * HIDDEN + i]);
  };
  end(OUT_H, call.h(d, LENGTH));
  if (IS_LSTM) end(OUT_C, call.cell(d));
}

// All steps of tiles [first, last), which are numbered through both directions. SHARED: other threads have the others, and each waits for all.
template <bool SHARED>
static void run_tiles(const Call& call, int64_t first, int64_t last) {
  const auto wait = [] {
    if (SHARED) {
#pragma omp barrier
    }
  };
  for (int64_t n = first; n < last; ++n) begin_tile(call, n / TILES, n % TILES);
  wait();
  for (int64_t t = 0; t < LENGTH; ++t) {
    for (int64_t n = first; n < last; ++n) step_tile<false>(call, n / TILES, t, n % TILES);
    if (IS_GRU) {
      if (!LINEAR_BEFORE_RESET) wait();
      for (int64_t n = first; n < last; ++n) step_tile<true>(call, n / TILES, t, n % TILES);
    }
    wait();
  }
  for (int64_t n = first; n < last; ++n) end_tile(call, n / TILES, n % TILES);
}

// ---- the interface ---------------------------------------------------------------------------------------------------

extern "C" int omp_get_thread_num(void);
extern "C" int omp_get_num_threads(void);

extern "C" size_t amdahl_workspace_bytes(void) { return sizeof(real) * WORKSPACE; }

extern "C" size_t amdahl_packed_bytes(int input) {
  if (input == 1 && W_IS_CONSTANT) return sizeof(real) * packed_size(INPUT);
  if (input == 2 && R_IS_CONSTANT) return sizeof(real) * packed_size(HIDDEN);
  return input == IN_B && B_IS_CONSTANT ? sizeof(real) * DIRECTIONS * TILES * BIASES * WIDTH : 0;
}

extern "C" void amdahl_pack(int input, const void* raw, void* packed) {
  if (input == IN_B) pack_biases((const value_t*)raw, (real*)packed);
  else pack_weights((const value_t*)raw, input == 1 ? INPUT : HIDDEN, (real*)packed);
}

extern "C" void amdahl_run(const void* const* in, void* const* out, void* workspace) {
  const Call call = prepare(in, out, (real*)workspace);
  give_all(call);
  if (TEAM <= 1) {
#pragma omp parallel for schedule(static) num_threads(THREADS) if (TEAM == 1 && DIRECTIONS > 1 && THREADS > 1)
    for (int64_t d = 0; d < DIRECTIONS; ++d) run_tiles<false>(call, d * TILES, (d + 1) * TILES);
    return;
  }
#pragma omp parallel num_threads(min_of(THREADS, TEAM * DIRECTIONS))
  {
    const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    run_tiles<true>(call, thread * DIRECTIONS * TILES / threads, (thread + 1) * DIRECTIONS * TILES / threads);
  }
}
