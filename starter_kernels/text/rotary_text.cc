#include "starter_kernels/text/rotary_text.h"

#include <fmt/format.h>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/rotary_embedding.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// The place of (b, h, p) in an operand.
std::string place_function(const char* name, const Access& a) {
  return fmt::format("static inline int64_t {}(int64_t b, int64_t h, int64_t p) {{ return {} + b * {} + h * {} + p * {}; }}\n", name, a.offset, a.strides[0],
                     a.strides[1], a.strides[2]);
}

}  // namespace

std::string rotary_functions_text(const Problem& problem) {
  const Access &x = problem.in[0], &cos = problem.in[1], &sin = problem.in[2], &y = problem.out[0];
  using Ids = RotaryEmbeddingParams::Ids;
  const RotaryEmbeddingParams params = RotaryEmbeddingParams::of(problem);
  const std::string text = fmt::format(
                               "SCALAR float load(value_t x) {{ return {}; }}\nSCALAR value_t store(float x) {{ return {}; }}\nSCALAR float load_cache(cache_t "
                               "x) {{ return {}; }}\n",
                               load_text(x.dtype, "x"), store_text(x.dtype, "x"), load_text(cos.dtype, "x")) +
                           place_function("x_place", x) + place_function("y_place", y) + place_function("cos_place", cos) + place_function("sin_place", sin);
  if (params.ids == Ids::kInOrder) return text + "static inline int64_t position_of(const void* const*, int64_t, int64_t p) { return p; }\n";
  // A position outside the caches is kept inside: nothing beyond them is ever read.
  return text + fmt::format(
                    "static inline int64_t position_of(const void* const* in, int64_t b, int64_t p) {{\n"
                    "  const int64_t i = ((const {}*)in[3]){}, last = {};\n  return i < 0 ? 0 : i > last ? last : i;\n}}\n",
                    c_type(problem.in[3].dtype), params.ids == Ids::kOffset ? "[0] + p" : "[b * POSITIONS + p]", params.cache_rows - 1);
}

bool has_heads_inside(const Problem& problem) { return problem.out[0].shape[1] > 1 && problem.in[0].strides[1] < problem.in[0].strides[2]; }

}  // namespace amdahl
