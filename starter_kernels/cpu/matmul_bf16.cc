#include "starter_kernels/cpu/matmul_bf16.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/gemm_prelude.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

std::string refused_in_bf16(const DeviceInfo& device) { return device.has("avx512_bf16") ? "" : "this machine has no AVX512_BF16"; }

std::string refused_in_bf16(const Problem& problem, const DeviceInfo& device) {
  if (std::string why = refused_in_bf16(device); !why.empty()) return why;
  const Access &a = problem.in[0], &b = problem.in[1], &c = problem.out[0];
  if (a.dtype != DType::kF32 || b.dtype != DType::kF32 || c.dtype != DType::kF32) return "operands are not fp32";
  if (!b.constant) return "B is not a constant: it would be rounded and rearranged at every call";
  for (size_t i = 0; i + 2 < c.shape.size(); ++i)
    if (c.shape[i] != 1) return "several matrices";
  return "";
}

bool multiplies_on_tiles(const DeviceInfo& device) { return device.has("amx_bf16"); }

bool are_of_tiles(const Knobs& knobs) { return knobs.count("MT") > 0; }

SearchSpace tile_space(const Problem& problem) {
  const Shape& c = problem.out[0].shape;
  const int64_t m = c[c.size() - 2], n = c[c.size() - 1], k = problem.in[0].shape.back();
  SearchSpace space;
  const auto knob = [&](const char* name, std::vector<int64_t> values, int64_t starter, const char* meaning) {
    space.knobs.push_back({name, std::move(values), starter, meaning});
  };
  const auto mt = up_to({1, 2, 3}, (m + 15) / 16);
  knob("MT", mt, std::min<int64_t>(2, mt.back()), "tiles of 16 rows in a register block");
  knob("NT", {1, 2, 3}, 2, "tiles of 16 columns in a register block");
  const auto kb = up_to({8, 16, 24, 32, 48, 96}, (k + 31) / 32);
  knob("KB", kb, kb.back(), "steps of 32 in a block of K: a panel of B of so many stays in L1");
  if (problem.threads > 1) {
    knob("PARTITION", {0, 1, 2}, n >= m ? 1 : 2, "parts of C over threads: 0 one thread, 1 along N, 2 along M");
    knob("TASKS", {1, 2, 4, 8}, 1, "parts a thread; above 1 they are handed out as threads become free");
  } else {
    knob("PARTITION", {0}, 0, "parts of C over threads: 0 one thread");
    knob("TASKS", {1}, 1, "parts a thread");
  }
  knob("PREFETCH", {0, 1, 2}, 0, "panels of B fetched ahead; 0: left to the hardware");
  space.refuse = [](const Knobs& k) -> std::string {
    const int64_t tiles = k.at("MT") * k.at("NT") + k.at("MT") + k.at("NT");
    return tiles <= 8 ? "" : fmt::format("a block of {}x{} tiles needs {} registers, there are 8", k.at("MT"), k.at("NT"), tiles);
  };
  return space;
}

}  // namespace amdahl
