#include "starter_kernels/cpu/conv_epilogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "starter_kernels/cpu/byte_epilogue.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/vector_epilogue.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/sliding_window.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/text/window_text.h"

namespace amdahl {
namespace {

constexpr size_t kExtra = 2;  // in[0] is x, in[1] is w

std::string epilogue_text(const Problem& problem) { return std::string(cpu_text("scalar_math.h")) + "\n" + emit_epilogue(problem, kExtra); }

}  // namespace

std::string emit_finish(const Problem& problem, const SlidingWindow& g) {
  const std::string types = fmt::format("typedef {} out_t;\n", c_type(problem.out[0].dtype));
  const std::string head = fmt::format("static inline out_t finish({} sum, const void* const* in, int64_t n, int64_t o, int64_t p) {{\n",
                                       register_type(accumulator_of(problem.in[0].dtype)));
  const PixelEpilogue epilogue = epilogue_of_pixels(problem, g);
  return epilogue_text(epilogue.problem) + types + head + fmt::format("  return epilogue(sum, in, {});\n}}\n\n", epilogue.indices);
}

std::string byte_epilogue_of_pixels(const Problem& problem, const SlidingWindow& g) {
  const PixelEpilogue epilogue = epilogue_of_pixels(problem, g);
  const auto vectors = epilogue.indices == "n, o, p" ? emit_byte_epilogue(epilogue.problem, kExtra) : std::nullopt;
  return "constexpr int64_t BLOCK = VLEN;\n" + std::string(cpu_text("vector_math.h")) + std::string(cpu_text("byte_vectors.h")) + vectors.value_or("") +
         std::string(cpu_text("byte_pixels.h"));
}

std::string emit_finish_block(const Problem& problem, int64_t block) {
  Problem blocks = problem;
  blocks.out[0] = as_blocks(problem.out[0], format_of_output(problem, 0), block);
  for (size_t i = kExtra; i < problem.in.size(); ++i) blocks.in[i] = as_blocks(problem.in[i], format_of_input(problem, i), block);
  const std::optional<std::string> vector = emit_vector_epilogue(blocks, kExtra);
  const std::string whole = vector ? "    *(lanes*)to = vector_epilogue(*(const lanes*)sums, in, n, b, p, 0);\n"
                                   : "#pragma omp simd simdlen(BLOCK)\n"
                                     "    for (int64_t j = 0; j < BLOCK; ++j) to[j] = epilogue(sums[j], in, n, b, p, j);\n";
  return epilogue_text(blocks) + std::string(cpu_text("vector_math.h")) + vector.value_or("") + R"(
static inline __attribute__((always_inline)) void finish_block(const float* sums, float* to, const void* const* in, int64_t n,
                                                               int64_t b, int64_t p) {
  const int64_t real = O - b * BLOCK;  // channels of the last block that exist; the others are written as zero
  if (O % BLOCK == 0 || real >= BLOCK) {
)" + whole +
         R"(  } else {
#pragma omp simd
    for (int64_t j = 0; j < O % BLOCK; ++j) to[j] = epilogue(sums[j], in, n, b, p, j);
    for (int64_t j = O % BLOCK; j < BLOCK; ++j) to[j] = 0;
  }
}

)";
}

std::string emit_store_block(const Problem& problem, const SlidingWindow& g, int64_t block) {
  const std::string head =
      "static inline void store_block(const float* sums, float* out, const void* const* in, int64_t n, int64_t b, "
      "int64_t p) {\n";
  if (!format_of_output(problem, 0).empty())
    return emit_finish_block(problem, block) + head +
           fmt::format("  finish_block(sums, out + ((n * {} + b) * {} + p) * BLOCK, in, n, b, p);\n}}\n\n", (g.out_channels + block - 1) / block,
                       g.out_pixels());
  return emit_finish(problem, g) + head +
         fmt::format(
             "  for (int64_t o = b * BLOCK; o < (b + 1) * BLOCK && o < O; ++o)\n"
             "    out[(n * O + o) * {0} + p] = finish(sums[o - b * BLOCK], in, n, o, p);\n}}\n\n",
             g.out_pixels());
}

std::string emit_element_access(const Problem& problem, const SlidingWindow& g) {
  const DType dtype = problem.in[0].dtype;
  std::string text = epilogue_text(problem);
  text += fmt::format("typedef {} ACC;\n", register_type(accumulator_of(dtype)));
  const auto load = [&](const char* name, size_t input) {
    std::vector<std::string> indices = spatial_names({"d", "h", "w"}, g.spatial_rank);
    indices.insert(indices.begin(), {"a", "b"});
    text += fmt::format(
        "static inline ACC {}(const void* const* in, int64_t a, int64_t b, int64_t d, int64_t h, int64_t w) {{\n"
        "  return {};\n}}\n",
        name, emit_load(problem.in[input], fmt::format("in[{}]", input), indices));
  };
  load("load_x", 0);
  load("load_w", 1);
  const auto names = spatial_names({"d", "h", "w"}, g.spatial_rank);
  text += fmt::format(
      "static inline void store_out(void* const* out, const void* const* in, ACC sum, int64_t n, int64_t o, int64_t d, "
      "int64_t h, int64_t w) {{\n"
      "  (({0}*)out[0])[(((n * O + o) * OD + d) * OH + h) * OW + w] = epilogue(sum, in, n, o, {1});\n}}\n\n",
      c_type(problem.out[0].dtype), fmt::join(names, ", "));
  return text;
}

}  // namespace amdahl
