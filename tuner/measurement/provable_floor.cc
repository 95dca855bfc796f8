#include "tuner/measurement/provable_floor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

bool computes_in_fp32(const Problem& problem) {
  const auto is_fp32 = [](const Access& a) { return a.dtype == DType::kF32; };
  return std::all_of(problem.in.begin(), problem.in.end(), is_fp32) && std::all_of(problem.out.begin(), problem.out.end(), is_fp32);
}

double stored_bytes(const Access& access) {
  double bytes = static_cast<double>(size_of(access.dtype));
  for (size_t i = 0; i < access.shape.size(); ++i)
    if (access.strides[i] != 0) bytes *= static_cast<double>(access.shape[i]);
  return bytes;
}

// Only products: what they multiply cannot be avoided, and every weight takes part. Other kinds may skip (a mask, a gather).

}  // namespace

double provable_floor(const std::vector<Step>& steps, int instances, int threads, const Ceilings& ceilings, const FloorOptions& options) {
  double flops = 0, weights = 0;
  for (const Step& step : steps) {
    const Problem& p = step.variant.problem;
    if (!traits_of(p).is_product || !computes_in_fp32(p) || multiplies_in_bf16(p)) continue;
    flops += kernel_kind(p.kind).work(p).flops / (p.kind == kind::kConv ? options.conv_factor : 1);
    for (const Access& in : p.in)
      if (in.constant) weights += stored_bytes(in);
  }
  // Of all threads, or of one alone as often: what they did together while a hypervisor had two of them on one core is no ceiling (92 GFLOP/s for
  // one thread and for two; at another hour 155 for two).
  const double peak = std::max(ceilings.peak_gflops(threads), threads * ceilings.peak_gflops(1)) * 1e9;
  const double bandwidth = ceilings.bandwidth_gbs(ceilings.level_of(instances * weights, threads), threads) * 1e9;
  const double compute = peak > 0 ? flops / peak : 0, memory = bandwidth > 0 ? weights / bandwidth : 0;
  return options.margin * std::max(compute, memory);
}

std::string below_floor(double incumbent_seconds, double incumbent_floor, double challenger_seconds, double challenger_floor) {
  const auto too_fast = [](const char* arm, double seconds, double floor) {
    return fmt::format(
        "the {} took {} a call, and this machine needs {} for its work: if that is not true, "
        "`amdahl doctor --fresh` measures the machine again",
        arm, time_text(seconds), time_text(floor));
  };
  if (challenger_seconds < challenger_floor) return too_fast("challenger", challenger_seconds, challenger_floor);
  if (incumbent_seconds < incumbent_floor) return too_fast("incumbent", incumbent_seconds, incumbent_floor);
  return "";
}

}  // namespace amdahl
