// How a CPU computes the fused_mlp kind (starter_kernels/kinds/fused_mlp.cc).

#include "starter_kernels/kinds/fused_mlp.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/gemm_cycles.h"
#include "starter_kernels/cpu/gemm_prelude.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

PointwiseProgram activation_of(const Problem& p) { return FusedMlpParams::of(p).activation; }

// in[first_extra] is the first operand of the activation.
size_t first_extra(const MlpSizes& s) { return s.gated ? 4 : 3; }

// Of one thread: both products, block after block of the hidden layer.
double cycles_of(const MlpSizes& s, const Knobs& k, int64_t x_row_bytes, int threads, const DeviceInfo& device) {
  const auto whole = [](int64_t n, int64_t unit) { return (n + unit - 1) / unit; };
  const int64_t lanes = k.at("VLEN"), partition = k.at("PARTITION");
  const int64_t hidden = whole(whole(s.h, lanes * k.at("NRV")) * k.at("NRV"), partition == 2 ? threads : 1);  // of the slowest thread
  GemmBlocking b;
  b.lanes = lanes, b.mr = k.at("MR"), b.nrv = k.at("NRV");
  const int64_t mc = k.at("MC"), rounds = std::max<int64_t>(1, (2 * s.m + mc * threads) / (2 * mc * threads));  // as the text has them
  b.block_rows = std::min(s.m, whole(partition == 1 ? whole(s.m, rounds * threads) : mc, b.mr) * b.mr);
  b.rows = partition == 1 ? std::min(s.m, rounds * b.block_rows) : s.m;
  b.b_prefetched = k.at("PREFETCH") > 0;
  GemmBlocking first = b, second = b;
  first.k = first.block_k = s.k;
  first.vectors = hidden, first.block_vectors = std::min(hidden, whole(k.at("BLOCK_H"), lanes));
  first.a_row_bytes = std::max<int64_t>(4, x_row_bytes);
  second.k = hidden * lanes, second.block_k = first.block_vectors * lanes;
  second.vectors = second.block_vectors = whole(s.n, lanes);
  second.a_row_bytes = (second.block_k + 16) * 4;
  return gemm_cycles(first, device) * (s.gated ? 2 : 1) + gemm_cycles(second, device);
}

class FusedMlpOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kFusedMlp; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const MlpSizes s(problem);
    const bool avx512 = device.has("avx512f");
    SearchSpace space;
    const auto knob = [&](const char* name, std::vector<int64_t> values, int64_t starter, const char* meaning) {
      space.knobs.push_back({name, std::move(values), starter, meaning});
    };
    const VectorUnit unit = vector_unit(device);
    knob("VLEN", unit.widths, unit.widths.back(), "vector width in 4-byte lanes");
    const auto mr = up_to({1, 2, 4, 6, 8, 10, 12, 14}, s.m);
    knob("MR", mr, std::min<int64_t>(avx512 ? 8 : 6, mr.back()), "rows of the register tile");
    knob("NRV", {1, 2, 3, 4}, 2, "vectors in a row of the register tile");
    const auto mc = up_to({24, 48, 96, 192, 384}, s.m);
    knob("MC", mc, std::min<int64_t>(96, mc.back()), "rows of a block: their hidden values and sums stay in L2");
    const auto bh = up_to({64, 128, 256, 512, 1024}, s.h);
    knob("BLOCK_H", bh, std::min<int64_t>(256, bh.back()), "hidden columns of a block");
    // Of many rows each thread has blocks enough of its own; of few, one that reads half of the weights makes up for adding the sums (784 x 192 x 768 on Sapphire
    // Rapids, two threads: a fifth slower by the hidden layer than as two products, level by rows).
    if (problem.threads > 1)
      knob("PARTITION", {0, 1, 2}, s.m >= 96 * problem.threads ? 1 : 2, "0 one thread; 1 rows over threads; 2 the hidden layer over threads");
    else knob("PARTITION", {0}, 0, "0 one thread");
    knob("PREFETCH", {0, 1, 2}, 1, "panels of weights fetched ahead; 0: left to the hardware");
    knob("UNROLL_K", {1, 2, 4, 8}, 4, "steps in the body of the inner loop");
    space.cycles = [s, device, x_row = problem.in[0].strides[0], threads = problem.threads](const Knobs& k) {
      return cycles_of(s, k, x_row * 4, threads, device);
    };
    const int64_t registers = unit.registers, l2 = device.l2_bytes;
    space.refuse = [=](const Knobs& k) -> std::string {
      const int64_t tile = k.at("MR") * k.at("NRV") + k.at("NRV");
      if (tile > registers) return fmt::format("a tile of {}x{} vectors needs {} registers, there are {}", k.at("MR"), k.at("NRV"), tile, registers);
      if (std::min(k.at("MC"), s.m) * std::min(k.at("BLOCK_H"), s.h) * 4 > 2 * l2) return "a block of hidden values does not fit twice the L2 cache";
      return "";
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override;
};

std::string FusedMlpOnCpu::source(const Variant& variant, const DeviceInfo&) const {
  const Problem& p = variant.problem;
  const MlpSizes s(p);
  const PointwiseProgram activation = activation_of(p);
  std::string text = fmt::format("// fused_mlp {} x {} -> {} -> {}\n", s.m, s.k, s.h, s.n);
  text += gemm_types(DType::kF32, {DType::kF32});
  const auto constant = [&](const std::string& name, int64_t value) { text += fmt::format("constexpr int64_t {} = {};\n", name, value); };
  constant("M", s.m), constant("K", s.k), constant("H", s.h), constant("N", s.n), constant("THREADS", p.threads);
  const auto operand = [&](const std::string& name, const Access& a) {
    constant(name + "_OFFSET", a.offset), constant(name + "_ROW", a.strides[0]), constant(name + "_COL", a.strides[1]);
  };
  operand("X", p.in[0]), operand("W1", p.in[1]), operand("W2", p.in[2]), operand("W_UP", p.in[s.gated ? 3 : 1]);
  operand("Y", p.out[0]);
  text += fmt::format("constexpr bool GATED = {};\n", s.gated);
  for (const auto& [name, value] : variant.knobs) constant(name, value);

  const size_t extra = first_extra(s);
  const size_t products = s.gated ? 2 : 1, activation_extras = static_cast<size_t>(activation.inputs) - products;
  text += cpu_text("scalar_math.h");
  text += emit_program(activation, "activation_program");
  text += "static inline ACC activation(ACC product, ACC up, const void* const* in, int64_t m, int64_t h) {\n";
  text += s.gated ? "  return activation_program(product, up" : "  return activation_program(product";
  for (size_t i = 0; i < activation_extras; ++i) text += ", " + emit_load(p.in[extra + i], fmt::format("in[{}]", extra + i), {"m", "h"});
  text += ");\n}\n";
  text += emit_epilogue(p, extra + activation_extras);
  text += "static inline ACC finish(ACC sum, const void* const* in, int64_t m, int64_t n) { return epilogue(sum, in, m, n); }\n";
  text += cpu_text("sizes.h");
  text += cpu_text("gemm_tile.h");
  text += cpu_text("fused_mlp.cpp");
  return text;
}

}  // namespace

const KernelImplementation* fused_mlp_on_cpu() {
  static const FusedMlpOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
