// A forward LSTM: X W' of all steps first, then the steps. A tile is two vectors of units with all four gates: eight sums, which hide the latency.

#include <omp.h>

#include <algorithm>
#include <memory>

#include "bench/kernels/hand_written/hand_written.h"
#include "bench/kernels/hand_written/rows.h"
#include "bench/kernels/hand_written/vectors.h"

namespace amdahl::hand_written {
namespace {

constexpr int64_t kUnits = 2 * kLanes, kTile = 4 * kUnits;  // units of a tile, and numbers of it in a step of a product

Vec sigmoid(Vec x) { return reciprocal(1 + exp(smaller(-x, all(87)))); }
Vec tanh(Vec x) { return 2 * sigmoid(2 * x) - 1; }

// For each tile, the row of each k: gate after gate.
HugeArray packed(const Tensor& weights, int64_t hidden, int64_t depth) {
  HugeArray to = huge_array(static_cast<size_t>(4 * hidden * depth));
  const float* const from = weights.as<float>().data();
  for (int64_t i = 0; i < 4 * hidden * depth; ++i) {
    const int64_t unit = i % kUnits + i / (kTile * depth) * kUnits, gate = i / kUnits % 4, k = i / kTile % depth;
    to.get()[i] = from[(gate * hidden + unit) * depth + k];
  }
  return to;
}

// sums = from + a * weights of a tile.
void multiply(const float* a, const float* weights, int64_t depth, const float* from, Vec (&sums)[8]) {
  for (int v = 0; v < 8; ++v) sums[v] = at(from + v * kLanes);
  for (int64_t k = 0; k < depth; ++k)
    for (int v = 0; v < 8; ++v) sums[v] += a[k] * at(weights + k * kTile + v * kLanes);
}

struct Lstm {
  int64_t steps, batch, size, hidden;
  const float* x;
  float* y;
  HugeArray w, r, bias, given, cells, nothing;

  explicit Lstm(const Operands& o)
      : steps(o.inputs.at(0).shape[0]),
        batch(o.inputs[0].shape[1]),
        size(o.inputs[0].shape[2]),
        hidden(o.constant("c1").shape()[2]),
        x(o.inputs[0].data.get()),
        y(o.output.data.get()) {
    if (hidden % kUnits) throw Error(ExitCode::kUnsupported, fmt::format("{} units are not of whole tiles of {}", hidden, kUnits));
    w = packed(o.constant("c0"), hidden, size);
    r = packed(o.constant("c1"), hidden, hidden);
    bias = huge_array(static_cast<size_t>(4 * hidden));
    const float* const b = o.constant("c2").as<float>().data();
    for (int64_t i = 0; i < 4 * hidden; ++i) {
      const int64_t row = i / kUnits % 4 * hidden + i % kUnits + i / kTile * kUnits;
      bias.get()[i] = b[row] + b[4 * hidden + row];
    }
    given = huge_array(static_cast<size_t>(steps * batch * 4 * hidden));
    cells = huge_array(static_cast<size_t>(batch * hidden));
    nothing = huge_array(static_cast<size_t>(batch * hidden));
    std::fill_n(nothing.get(), batch * hidden, 0.0f);
  }

  void step(int64_t t, int64_t b, int64_t tile) const {
    const float* const before = t == 0 ? nothing.get() : y + (t - 1) * batch * hidden;
    Vec gates[8];
    multiply(before + b * hidden, r.get() + tile * kTile * hidden, hidden, given.get() + ((t * batch + b) * 4 * hidden + tile * kTile), gates);
    for (int v = 0; v < 2; ++v) {
      const int64_t unit = b * hidden + tile * kUnits + v * kLanes;
      Vec& cell = at(cells.get() + unit);
      const Vec forgotten = t == 0 ? Vec{} : sigmoid(gates[4 + v]) * cell;
      cell = forgotten + sigmoid(gates[v]) * tanh(gates[6 + v]);
      at(y + t * batch * hidden + unit) = sigmoid(gates[2 + v]) * tanh(cell);
    }
  }

  // The tiles are shared out; at each step everybody waits for all.
  void run(int threads) const {
    const int64_t tiles = hidden / kUnits;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for collapse(2)
      for (int64_t tile = 0; tile < tiles; ++tile)
        for (int64_t row = 0; row < steps * batch; ++row) {
          Vec sums[8];
          multiply(x + row * size, w.get() + tile * kTile * size, size, bias.get() + tile * kTile, sums);
          for (int v = 0; v < 8; ++v) at(given.get() + row * 4 * hidden + tile * kTile + v * kLanes) = sums[v];
        }
      for (int64_t t = 0; t < steps; ++t) {
#pragma omp for collapse(2)
        for (int64_t tile = 0; tile < tiles; ++tile)
          for (int64_t b = 0; b < batch; ++b) step(t, b, tile);
      }
    }
  }
};

}  // namespace

std::vector<Run> lstm(const Operands& operands, int threads) {
  const auto shared = std::make_shared<Lstm>(operands);
  return {[=] { shared->run(1); }, [=] { shared->run(threads); }};
}

}  // namespace amdahl::hand_written
