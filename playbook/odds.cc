#include "playbook/odds.h"

#include <algorithm>
#include <span>

namespace amdahl {
namespace {

// A changed algorithm or a form that good kernels are known to need wins about one time in four, another value of a knob that already has a
// sensible one rarely. Counted as so many windows beside those of the table.
constexpr double kStructural = 0.25, kKnob = 0.08, kWindows = 4;

struct WinRate {
  std::string_view rewrite;
  int windows, won;
  double share;  // median over what won
};

// 52 sessions of 2026-11-23 on two cores of an EPYC with AVX2 (Zen 3), one and two threads, the order of the playbook, of this table's
// predecessor, or none: gpt2 (31), resnet50, single kernels, exports of five other models. Windows too short to prove anything on are among them.
// Fusions of a whole function (GELU, a norm, rotary embedding) are counted together, and so are both Winograds. Streaming stores: the windows whose
// result no cache holds, sessions of the night after included.
constexpr WinRate kOnCpu[] = {
    {"fuse_gelu", 8, 5, 0.62},
    {"fuse_layernorm", 8, 5, 0.62},
    {"fuse_rmsnorm", 8, 5, 0.62},
    {"fuse_rope", 8, 5, 0.62},
    {"fuse_pointwise_chain", 12, 6, 0.49},
    {"fuse_epilogue", 22, 8, 0.04},
    {"use_gemv_form", 5, 4, 0.73},
    {"carry_blocked_layout", 59, 36, 0.28},
    {"use_strassen", 33, 11, 0.16},
    {"use_strassen_twice", 63, 36, 0.26},
    {"use_winograd", 12, 6, 0.33},
    {"use_winograd_f43", 12, 6, 0.33},
    {"block_by_count", 65, 12, 0.15},
    {"adopt_knobs", 67, 10, 0.16},
    {"pack_constant_weights", 14, 3, 0.16},
    {"use_more_accumulators", 14, 2, 0.18},
    {"unroll_k", 65, 9, 0.14},
    {"choose_conv_blocks", 19, 6, 0.11},
    {"choose_loop_order", 16, 2, 0.15},
    {"choose_rows_per_task", 25, 3, 0.16},
    {"choose_cache_blocks", 56, 3, 0.14},
    {"choose_register_tile", 44, 1, 0.09},
    {"choose_thread_partition", 20, 0, 0.15},
    {"set_prefetch_distance", 67, 0, 0.15},
    {"unroll_loops", 83, 3, 0.17},
    {"use_streaming_stores", 5, 1, 0.32},
};

// Seven sessions of 2026-11-28 and 29 in fp16, GPT-2 on H200s (three) and H100s (three) and BERT on an H200: windows that a rewrite was tried on, and those
// that it won. What was tried on one alone is left out.
constexpr WinRate kOnCards[] = {
    {"fuse_pointwise_chain", 11, 11, 0.51}, {"fuse_attention", 6, 6, 0.54},        {"choose_attention_tile", 5, 3, 0.17}, {"fuse_residual_norm", 2, 1, 0.09},
    {"fuse_epilogue", 6, 2, 0.08},          {"choose_warpgroup_tile", 6, 1, 0.08}, {"use_mma_form", 9, 0, 0.15},          {"split_k", 6, 0, 0.15},
    {"choose_pipeline_stages", 4, 0, 0.15}, {"skip_causal_tiles", 3, 0, 0.15},     {"choose_warp_tile", 3, 0, 0.15},      {"choose_block_shape", 2, 0, 0.15},
};

const struct {
  std::string_view backend;
  std::span<const WinRate> rates;
} kCounted[] = {{"cpu", kOnCpu}, {"cuda", kOnCards}};

std::span<const WinRate> counted_on(std::string_view backend) {
  for (const auto& counted : kCounted)
    if (counted.backend == backend) return counted.rates;
  return {};
}

}  // namespace

std::vector<std::string_view> counted_rewrites() {
  std::vector<std::string_view> names;
  for (const auto& counted : kCounted)
    for (const WinRate& row : counted.rates)
      if (std::find(names.begin(), names.end(), row.rewrite) == names.end()) names.push_back(row.rewrite);
  return names;
}

Odds odds_of(std::string_view rewrite, bool structural, std::string_view backend) {
  const double base = structural ? kStructural : kKnob;
  const std::span<const WinRate> counted = counted_on(backend);
  const auto known = std::find_if(counted.begin(), counted.end(), [&](const WinRate& c) { return c.rewrite == rewrite; });
  if (known == counted.end()) return {base, structural ? 0.33 : 0.15};
  return {(known->won + kWindows * base) / (known->windows + kWindows), known->share};
}

}  // namespace amdahl
