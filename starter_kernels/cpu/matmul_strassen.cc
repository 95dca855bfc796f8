#include "starter_kernels/cpu/matmul_strassen.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/gemm_prelude.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/conv.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/sliding_window.h"

namespace amdahl {
namespace {

// Halved once. Below this, sums of halves and stores of partial sums cost more than an eighth of the products.
constexpr int64_t kFewestRows = 32, kFewestColumns = 128, kFewestSteps = 128;
// Of a block, for a thread that reads all of B for them.
constexpr int64_t kRowsThatPayForB = 12;

// Of the one matrix product that a problem is: of a 1x1 convolution pixels x channels and channels x output channels.
struct Sizes {
  int64_t m, n, k;
};
Sizes sizes_of(const Problem& problem) {
  const Shape &a = problem.in[0].shape, &c = problem.out[0].shape;
  if (problem.kind == kind::kConv) return {numel(c) / c[0] / c[1], c[1], a[1]};
  return {c[c.size() - 2], c.back(), a.back()};
}

std::string refused_on_blocks(const Problem& problem, int levels, const DeviceInfo& device) {
  const std::string format = format_of_output(problem, 0);
  const int64_t block = channel_block(format), side = int64_t{1} << levels;
  const SlidingWindow g = SlidingWindow::of(problem);
  if (ConvParams::of(problem).transposed || g.groups != 1 || !g.is_pointwise()) return "not a 1x1 convolution with stride 1";
  if (block == 0 || format_of_input(problem, 0) != format || format != blocked_format(device)) return "not on channel blocks of a vector";
  if (g.n != 1) return "several images";
  if (g.channels % (side * block) != 0 || g.out_channels % (side * block) != 0) return "blocks of channels do not divide evenly";
  return "";
}

}  // namespace

std::string refused_in_halves(const Problem& problem, int levels, const DeviceInfo& device) {
  const Access &a = problem.in[0], &b = problem.in[1], &c = problem.out[0];
  if (a.dtype != DType::kF32 || b.dtype != DType::kF32 || c.dtype != DType::kF32) return "operands are not fp32";
  if (!b.constant) return "B is not a constant: its sums would be made at every call";
  if (problem.kind == kind::kConv) {
    if (std::string why = refused_on_blocks(problem, levels, device); !why.empty()) return why;
  } else {
    for (size_t i = 0; i + 2 < c.shape.size(); ++i)
      if (c.shape[i] != 1) return "several matrices";
  }
  const auto [m, n, k] = sizes_of(problem);
  const int64_t times = int64_t{1} << (levels - 1);
  if (m < times * kFewestRows || n < times * kFewestColumns || k < times * kFewestSteps)
    return fmt::format("too small to halve {}: {}x{}x{}, of {}x{}x{} at least", levels == 1 ? "once" : "twice", m, n, k, times * kFewestRows,
                       times * kFewestColumns, times * kFewestSteps);
  return "";
}

SearchSpace strassen_space(const Problem& problem, const DeviceInfo& device) {
  const Sizes s = sizes_of(problem);
  const int64_t side = int64_t{1} << strassen_levels(problem);
  const int64_t rows = (s.m + side - 1) / side, steps = (s.k + side - 1) / side;
  const int64_t units = multiplies_in_bf16(problem) ? (steps + 1) / 2 : steps;
  const bool avx512 = device.has("avx512f");
  SearchSpace space;
  const auto knob = [&](const char* name, std::vector<int64_t> values, int64_t starter, const char* meaning) {
    space.knobs.push_back({name, std::move(values), starter, meaning});
  };
  const int64_t lanes = avx512 ? 16 : 8;
  knob("VLEN", {lanes}, lanes, "vector width in 4-byte lanes");
  knob("MR", up_to({4, 6, 8, 10, 12, 14, 16}, rows), avx512 ? 8 : 4, "rows of the register tile");
  // Panels of 32 columns divide most of what models have; of 48, the last one of 1024 / 4 is two thirds zeros (Zen 4, 1024 x 1024 x 1024, quarters: 9.5 ms,
  // with two vectors 8.4; 768 columns level). Pairs of 96 steps leave room in 32 KiB of L1 for what they are multiplied with (128 x 768 x 3072: 1.20 ms, three 1.40).
  knob("NRV", {1, 2, 3, 4, 6}, avx512 || multiplies_in_bf16(problem) ? 2 : 3, "vectors in a row of the register tile");
  // The more the fewer additions to C, and the longer the rows that sums of A are made of (Zen 4, quarters of 3072 steps, 768 against 192: 128 rows
  // 2.23 ms against 2.33, 197 rows 3.51 against 3.68, one thread 4.32 against 4.57); a panel then passes through L2, not L1.
  // But errors grow with the root of it, and 768 steps are more than the judge lets some models' products have.
  const auto kc = up_to({64, 128, 192, 256, 384, 768}, units);
  knob("KC", kc, std::min<int64_t>(kc.back(), multiplies_in_bf16(problem) ? 768 : 384), "steps of K, or pairs, in a block");
  // Of 512 rows of a block neither the sums nor the blocks of C fit L2 (Zen 4, 2048 x 2048 x 2048, quarters: 70 ms with 64 rows at a time, 76 with all).
  const auto mb = up_to({32, 64, 128, 256}, rows);
  knob("MB", mb, std::min<int64_t>(mb.back(), 64), "rows of a block that pass together");
  knob("NB", {1, 2, 4, 8, 16}, 4, "panels of B that pass a block of A's sums together");
  // Along M a thread makes its own rows' sums of A alone, and fewer of its rows come from the other core's L2; B is read by every thread. Zen 4, quarters
  // of 16 and 25 rows a thread, whole models, in turns: vit-b16 1.05 to 1.09 times as fast, bert-base 1.02 to 1.05, gpt2 1.03, llama-160m 1.01; with the
  // cores apart 25 rows 1.03 to 1.06, 16 rows 0.97 to 1.00.
  const bool shared = problem.threads > 1, rows_pay = rows / problem.threads >= kRowsThatPayForB;
  knob("PARTITION", shared ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1}, shared && rows_pay ? 2 : 1, "parts of C over threads: 1 along N, 2 along M");
  knob("TASKS", problem.threads > 1 ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{1}, 1,
       "parts of C a thread; above 1 they are handed out as threads become free");
  knob("PREFETCH", {0, 1}, 1, "panels of B fetched ahead; 0: left to the hardware");
  knob("UNROLL_K", {1, 2, 4, 8}, avx512 ? 4 : 8, "steps of K in the body of the inner loop");
  const int64_t registers = vector_unit(device).registers;
  space.refuse = [registers](const Knobs& k) -> std::string {
    const int64_t tile = k.at("MR") * k.at("NRV") + k.at("NRV");
    return tile <= registers ? "" : fmt::format("a tile of {}x{} vectors needs {} registers, there are {}", k.at("MR"), k.at("NRV"), tile, registers);
  };
  return space;
}

std::string strassen_text(const Variant& variant) {
  std::string text = fmt::format("constexpr int LEVELS = {};\n", strassen_levels(variant.problem));
  // Plans from before there was a choice: all rows in one pass, threads along N.
  if (!variant.knobs.contains("MB")) text += "constexpr int64_t MB = M;\n";
  if (!variant.knobs.contains("PARTITION")) text += "constexpr int64_t PARTITION = 1;\n";
  return text + std::string(cpu_text("matmul_strassen.cpp"));
}

}  // namespace amdahl
