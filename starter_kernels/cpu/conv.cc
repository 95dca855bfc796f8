// How a CPU computes the conv kind (starter_kernels/kinds/conv.cc).

#include "starter_kernels/kinds/conv.h"

#include <fmt/format.h>

#include "base/device_info.h"
#include "base/error.h"
#include "starter_kernels/cpu/byte_products.h"
#include "starter_kernels/cpu/conv_algorithms.h"
#include "starter_kernels/cpu/conv_epilogue.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/gemm_prelude.h"
#include "starter_kernels/cpu/matmul_strassen.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/cpu/window_constants.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {
namespace {

// A 1x1 convolution as the product that it is: pixels x channels by channels x output channels.
std::string source_in_halves(const Variant& variant, const SlidingWindow& g) {
  const Problem& problem = variant.problem;
  std::string text = gemm_types(DType::kF32, {DType::kF32, DType::kF32, DType::kF32});
  const auto constant = [&](const char* name, int64_t value) { text += fmt::format("constexpr int64_t {} = {};\n", name, value); };
  constant("M", g.out_pixels()), constant("N", g.out_channels), constant("K", g.channels), constant("O", g.out_channels);
  constant("A_OFFSET", 0), constant("A_ROW", 0), constant("A_COL", 1), constant("C_OFFSET", 0);
  constant("B_OFFSET", 0), constant("B_ROW", 1), constant("B_COL", g.channels);
  constant("THREADS", problem.threads), constant("BLOCK", channel_block(format_of_output(problem, 0)));
  for (const auto& [knob, value] : variant.knobs) constant(knob.c_str(), value);
  return text + emit_finish_block(problem, channel_block(format_of_output(problem, 0))) + gemm_schedule(variant) + std::string(cpu_text("sizes.h")) +
         std::string(cpu_text("gemm_tile.h")) + "#define ON_BLOCKS\n" + strassen_text(variant);
}

class ConvOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kConv; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override { return conv_space(problem, device); }

  std::string source(const Variant& variant, const DeviceInfo& device) const override {
    const Problem& problem = variant.problem;
    const SlidingWindow g = SlidingWindow::of(problem);
    const std::string refusal = space(problem, device).refuse(variant.knobs);
    if (!refusal.empty()) throw Error(ExitCode::kInternal, "conv: " + refusal);
    if (variant.knobs.at("ALGORITHM") == kConvStrassen) return source_in_halves(variant, g);
    std::string text = "#include <omp.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <math.h>\n\n" + window_constants(g) +
                       fmt::format("constexpr int THREADS = {};\n", problem.threads);
    for (const auto& [knob, value] : variant.knobs) text += fmt::format("constexpr int64_t {} = {};\n", knob, value);
    switch (variant.knobs.at("ALGORITHM")) {
      case kConvBytes:
      case kConvBytesDepthwise:
        return text + "typedef int32_t ACC;\nconstexpr int64_t UNROLL_K = 1;\n" +
               byte_products_text(variant.knobs.count("K_STEPS") ? variant.knobs.at("K_STEPS") : 2, device) + emit_finish(problem, g) + inputs_text(problem) +
               std::string(cpu_text("sizes.h")) + std::string(cpu_text("conv_prepare.h")) + std::string(cpu_text("gemm_tile.h")) +
               byte_epilogue_of_pixels(problem, g) +
               std::string(cpu_text(variant.knobs.at("ALGORITHM") == kConvBytes ? "conv_bytes.cpp" : "conv_bytes_depthwise.cpp"));
      case kConvIm2col:
      case kConvDirect:
        if (!variant.knobs.count("PACK_W")) text += "constexpr int64_t PACK_W = 0;\n";
        text += emit_finish(problem, g) + std::string(cpu_text("conv_prepare.h"));
        if (variant.knobs.at("ALGORITHM") == kConvDirect) return text + std::string(cpu_text("conv_direct.cpp"));
        return text + std::string(cpu_text("conv_tile.h")) + std::string(cpu_text("conv_im2col.cpp"));
      case kConvTransposed: return text + emit_finish(problem, g) + std::string(cpu_text("conv_tile.h")) + std::string(cpu_text("conv_transposed.cpp"));
      case kConvDepthwise: return text + emit_finish(problem, g) + std::string(cpu_text("conv_prepare.h")) + std::string(cpu_text("conv_depthwise.cpp"));
      case kConvWinograd: {
        const int64_t stored = channel_block(format_of_output(problem, 0)), block = stored > 0 ? stored : variant.knobs.at("VLEN");
        text += fmt::format("constexpr int64_t BLOCK = {};\nconstexpr bool IN_BLOCKED = {};\n#define WINO_M_IS_2 {}\n", block,
                            !format_of_input(problem, 0).empty(), variant.knobs.at("WINO_M") == 2 ? 1 : 0);
        return text + emit_store_block(problem, g, block) + std::string(cpu_text("conv_winograd.cpp"));
      }
      case kConvBlocked:
      case kConvBlockedDepthwise: {
        const int64_t block = channel_block(format_of_output(problem, 0));
        const bool depthwise = variant.knobs.at("ALGORITHM") == kConvBlockedDepthwise;
        if (!variant.knobs.count("PARTITION")) text += "constexpr int64_t PARTITION = 1;\n";          // of a plan from before there was a choice
        if (!depthwise && !variant.knobs.count("GATHER")) text += "constexpr int64_t GATHER = 0;\n";  // likewise, and of an image
        text += fmt::format("constexpr int64_t BLOCK = {};\nconstexpr bool IN_BLOCKED = {};\n", block, !format_of_input(problem, 0).empty());
        text += emit_finish_block(problem, block);
        if (depthwise) return text + std::string(cpu_text("conv_blocked_depthwise.cpp"));
        return text + std::string(cpu_text("blocked_tile.h")) + std::string(cpu_text("conv_blocked.cpp"));
      }
    }
    return text + fmt::format("constexpr bool TRANSPOSED = {};\n", ConvParams::of(problem).transposed) + emit_element_access(problem, g) +
           std::string(cpu_text("conv_generic.cpp"));
  }
};

}  // namespace

const KernelImplementation* conv_on_cpu() {
  static const ConvOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
