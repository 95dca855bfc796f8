// How a CPU computes the recurrence kind (starter_kernels/kinds/recurrence.cc).

#include "starter_kernels/kinds/recurrence.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/recurrence_text.h"

namespace amdahl {
namespace {

// Gates of the wider of a tile's products (cpu/kernels/recurrence.cpp).
int64_t gates_of_product(const RecurrenceSizes& s) { return s.gates == 3 ? 2 : s.gates; }

// Sums, a row of x's copies and a vector of weights.
int64_t registers_of(int64_t rows, int64_t vectors) { return rows * vectors + rows + 1; }

// A sum waits four cycles for the one before it, and two begin in each: eight sums of one row, if there are as many units. Of many rows four vectors of weights:
// so more rows share what comes from L2 (80 steps of 2 x 256 units, AVX-512: 16% less time).
int64_t starter_units(const RecurrenceSizes& s, int64_t lanes) {
  const int64_t vectors = s.steps * s.batch < 6 ? 8 : 4;
  int64_t units = 1;
  while (2 * units * gates_of_product(s) <= vectors && units * lanes < s.hidden) units *= 2;
  return units;
}

int64_t starter_rows(const std::vector<int64_t>& rows, int64_t vectors, int64_t registers) {
  int64_t most = 1;
  for (const int64_t r : rows)
    if (registers_of(r, vectors) <= registers) most = std::max(most, r);
  return most;
}

// Waking a thread costs some microseconds, waiting for one at each step about one; a step's product is read at some 16 numbers a cycle. (256 units of an LSTM, a row,
// two threads of one direction: 37% less time than one.)
int64_t starter_team(const RecurrenceSizes& s, int64_t threads) {
  const double step = static_cast<double>(s.batch * s.gates * s.hidden * s.hidden);
  const int64_t share = threads / s.directions;
  if (share > 1 && step > 2e5) return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(share)));
  return threads > 1 && s.directions > 1 && step * static_cast<double>(s.steps) > 3e5 ? 1 : 0;
}

class RecurrenceOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kRecurrence; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const RecurrenceSizes s(problem);
    const VectorUnit unit = vector_unit(device);
    const Knob bits = vector_bits_knob(device);
    const int64_t lanes = bits.starter / 8 / static_cast<int64_t>(problem.in[0].dtype == DType::kF64 ? 8 : 4);
    const int64_t units = starter_units(s, lanes), vectors = gates_of_product(s) * units;
    const std::vector<int64_t> rows{1, 2, 3, 4, 6};
    std::vector<int64_t> teams{0};
    for (int64_t n = s.directions > 1 ? 1 : 2; n <= problem.threads && problem.threads > 1; n *= 2) teams.push_back(n);
    SearchSpace space;
    space.knobs = {bits,
                   {"NRV", {1, 2, 4, 8}, units, "vectors of hidden units in a tile"},
                   {"MR", rows, starter_rows(rows, vectors, unit.registers), "rows of x, or of the batch, that are multiplied together"},
                   {"UNROLL_K", {1, 2, 4}, 2, "steps in the body of a product's loop"},
                   {"PARTITION", teams, starter_team(s, problem.threads),
                    "threads of a direction, which wait for one another at each step; 1: none waits; 0: all directions on one thread"}};
    space.refuse = [gates = gates_of_product(s), registers = unit.registers](const Knobs& k) -> std::string {
      const int64_t needed = registers_of(k.at("MR"), gates * k.at("NRV"));
      return needed > registers
                 ? fmt::format("a tile of {} rows and {} vectors needs {} registers, there are {}", k.at("MR"), gates * k.at("NRV"), needed, registers)
                 : "";
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const int64_t bias = RecurrenceParams::of(problem).input_at('b');
    std::string sizes;
    const auto constant = [&](const std::string& name, int64_t value) { sizes += fmt::format("constexpr int64_t {} = {};\n", name, value); };
    for (const auto& [name, value] : recurrence_sizes(problem)) constant(name, value);
    constant("UNITS", variant.knobs.at("NRV")), constant("ROWS", variant.knobs.at("MR")), constant("TEAM", variant.knobs.at("PARTITION"));
    constant("UNROLL_K", variant.knobs.at("UNROLL_K"));
    constant("VLEN", variant.knobs.at("VECTOR_BITS") / 32);
    sizes += fmt::format("constexpr bool W_IS_CONSTANT = {}, R_IS_CONSTANT = {}, B_IS_CONSTANT = {};\n", problem.in[1].constant, problem.in[2].constant,
                         bias >= 0 && problem.in[static_cast<size_t>(bias)].constant);
    return join_text({opening_text(variant), sizes, recurrence_functions_text(problem), "typedef real ACC;", std::string(cpu_text("sizes.h")),
                      std::string(cpu_text("gemm_tile.h")), std::string(cpu_text("recurrence.cpp"))});
  }
};

}  // namespace

const KernelImplementation* recurrence_on_cpu() {
  static const RecurrenceOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
