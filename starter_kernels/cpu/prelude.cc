#include "starter_kernels/cpu/prelude.h"

#include <fmt/format.h>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/text/index_space.h"

namespace amdahl {

Knob vector_bits_knob(const DeviceInfo& device) {
  if (device.has("avx512f")) return {"VECTOR_BITS", {256, 512}, 512, "width of vectors, bits"};
  return {"VECTOR_BITS", {256}, 256, "width of vectors, bits"};
}

std::string vector_bits_text(const Knobs& knobs) {
  const auto it = knobs.find("VECTOR_BITS");
  if (it == knobs.end()) return "";
  // clang, which may build an export, has no such pragma.
  return fmt::format("#if !defined(__clang__) && defined(__AVX512F__)\n#pragma GCC target(\"prefer-vector-width={}\")\n#endif\n", it->second);
}

std::string streaming_text(const Knobs& knobs) {
  const auto it = knobs.find("STREAM");
  if (it == knobs.end() || it->second == 0) return "static inline void stream_fence() {}\n";
  return std::string(cpu_text("streaming.h"));
}

std::string opening_text(const Variant& variant) {
  return join_text(
      {vector_bits_text(variant.knobs), std::string(cpu_text("scalar_math.h")), fmt::format("constexpr int THREADS = {};", variant.problem.threads)});
}

std::string inputs_text(const Problem& problem) { return fmt::format("constexpr int INPUTS = {};\n", problem.in.size()) + std::string(cpu_text("inputs.h")); }

}  // namespace amdahl
