#include "starter_kernels/conv_epilogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "starter_kernels/embedded_sources.h"
#include "starter_kernels/pointwise.h"

namespace amdahl {
namespace {

constexpr size_t kExtra = 2;  // in[0] is x, in[1] is w

// The access with all dimensions after the first two made one, or nothing when no single stride walks them.
std::optional<Access> fold_spatial(const Access& a) {
  int64_t stride = 0, size = 1;
  for (size_t i = a.shape.size(); i-- > 2;) {
    if (a.shape[i] == 1) continue;
    if (size == 1) stride = a.strides[i];
    else if (a.strides[i] != stride * size) return std::nullopt;
    size *= a.shape[i];
  }
  Access folded = a;
  folded.shape = {a.shape[0], a.shape[1], size};
  folded.strides = {a.strides[0], a.strides[1], stride};
  return folded;
}

std::optional<Problem> fold_spatial(const Problem& problem) {
  Problem folded = problem;
  for (std::vector<Access>* side : {&folded.in, &folded.out})
    for (size_t i = side == &folded.in ? kExtra : 0; i < side->size(); ++i) {
      const std::optional<Access> access = fold_spatial((*side)[i]);
      if (!access) return std::nullopt;
      (*side)[i] = *access;
    }
  return folded;
}

std::string epilogue_text(const Problem& problem) {
  return std::string(embedded_source("cpu/scalar_math.h")) + "\n" + emit_epilogue(problem, kExtra);
}

// Names of the graph's spatial indices out of the three of the text: {"h", "w"} for two.
std::vector<std::string> spatial_names(const std::vector<std::string>& three, int rank) {
  return {three.end() - rank, three.end()};
}

}  // namespace

std::string emit_finish(const Problem& problem, const SlidingWindow& g) {
  const std::string head =
      "static inline float finish(float sum, const void* const* in, int64_t n, int64_t o, int64_t p) {\n";
  if (const std::optional<Problem> folded = fold_spatial(problem))
    return epilogue_text(*folded) + head + "  return epilogue(sum, in, n, o, p);\n}\n\n";
  const auto names = spatial_names({"p / (OH * OW)", "p / OW % OH", "p % OW"}, g.spatial_rank);
  return epilogue_text(problem) + head + fmt::format("  return epilogue(sum, in, n, o, {});\n}}\n\n", fmt::join(names, ", "));
}

std::string emit_element_access(const Problem& problem, const SlidingWindow& g) {
  const DType dtype = problem.in[0].dtype;
  std::string text = epilogue_text(problem);
  text += fmt::format("typedef {} ACC;\n", dtype == DType::kF64 ? "double" : "float");
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
