// How an NVIDIA card computes the matmul kind (starter_kernels/kinds/matmul.cc).

#include "starter_kernels/kinds/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/limits.h"
#include "starter_kernels/cuda/matmul_boxes.h"
#include "starter_kernels/cuda/matmul_held.h"
#include "starter_kernels/cuda/matmul_mma.h"
#include "starter_kernels/cuda/matmul_rows.h"
#include "starter_kernels/cuda/matmul_wgmma.h"
#include "starter_kernels/cuda/product_tile.h"
#include "starter_kernels/cuda/vector_access.h"
#include "starter_kernels/cuda/wgmma.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// `int64_t NAME(b)`: where matrix b of the batch begins; `dims` are the batch's.
std::string batch_text(const std::string& name, const Shape& dims, const Access& a) {
  const Shape strides(a.strides.begin(), a.strides.begin() + static_cast<int64_t>(dims.size()));
  return fmt::format("static inline int64_t {}(int64_t b) {{\n{}  return {};\n}}\n", name, unflatten_text("b", dims, 0, "  "),
                     offset_text(strides, 0, a.offset));
}

// `out_t finish(sum, in, b, m, n)`: the epilogue at an element, which counts in the output's own dimensions.
std::string finish_text(const Problem& problem, const Shape& batch) {
  const Shape& shape = problem.out[0].shape;
  std::string indices;
  for (size_t d = 0; d + 2 < shape.size(); ++d) indices += fmt::format("i{}, ", d);
  return fmt::format(
      "typedef {} out_t;\nstatic inline out_t finish(sum_t sum, const void* const* in, int64_t b, int64_t m, int64_t n) {{\n{}  return epilogue(sum, in, {}m, "
      "n);\n}}\n",
      c_type(problem.out[0].dtype), unflatten_text("b", batch, 0, "  "), indices);
}

constexpr int64_t kBuffers = 2;        // of steps in shared memory (kernels/matmul.cu)
constexpr int64_t kStepsOfPart = 256;  // from which on a part is worth its way through memory

// Tiles that are enough for the card once their steps of K are shared: large ones read less.
ProductTile tile_of(const MatmulSizes& s, const DeviceInfo& card) {
  const int64_t units = std::max(card.units, 1);
  return starter_tile(s.m, s.n, s.batch * starter_split(1, units, s.k, kStepsOfPart), units);
}

int64_t split_of(const MatmulSizes& s, const ProductTile& tile, const DeviceInfo& card) {
  const auto tiles = [](int64_t n, int64_t size) { return (n + size - 1) / size; };
  const int64_t blocks = tiles(s.m, tile.tm * tile.block_m) * tiles(s.n, tile.tn * tile.block_n) * s.batch;
  return starter_split(blocks, 2 * std::max(card.units, 1), s.k, kStepsOfPart);
}

// Numbers that one load or store takes where either of a matrix's dimensions is adjacent in memory.
int64_t vector_of_matrix(const Access& a) { return vector_along(a, a.strides.back() == 1 ? a.strides.size() - 1 : a.strides.size() - 2); }

std::string tile_text(const Problem& problem, const Knobs& knobs) {
  const MatmulSizes s = MatmulSizes::of(problem);
  const Access& c = problem.out[0];
  const int64_t wide = 16 / static_cast<int64_t>(size_of(accumulator_of(problem.in[0].dtype)));
  return join_text({cuda_sizes({{"A_VECTOR", vector_of_matrix(problem.in[0])},
                                {"B_VECTOR", vector_of_matrix(problem.in[1])},
                                {"C_VECTOR", vector_along(c, c.shape.size() - 1)},
                                {"PART_VECTOR", std::gcd(s.n, wide)}}),
                    std::string(cuda_text("vector.h")), product_tile_text(std::min(knobs.at("TN"), wide)), std::string(cuda_text("matmul_order.h")),
                    std::string(cuda_text("matmul.cu"))});
}

std::string form_text(const Problem& problem, const Knobs& knobs) {
  switch (knobs.at("FORM")) {
    case kMatmulMmaForm: return mma_text(problem);
    case kMatmulRowsForm: return rows_text(problem);
    case kMatmulHeldForm: return held_text(problem);
    case kMatmulWgmmaForm: return wgmma_text(problem, knobs);
    default: return tile_text(problem, knobs);
  }
}

// What is launched: the product, and where blocks share K, what adds their sums.
std::string launches_text(bool in_parts) {
  return join_text({in_parts ? std::string(cuda_text("matmul_parts.cu")) : "",
                    fmt::format("TABLE Launch amdahl_launches[] = {{MATMUL_LAUNCH{}}};\nTABLE uint64_t amdahl_workspace_bytes = {};",
                                in_parts ? ", PARTS_LAUNCH" : "", in_parts ? "SPLIT_K * BATCH * M * N * sizeof(sum_t)" : "0")});
}

class MatmulOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kMatmul; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    const MatmulSizes s = MatmulSizes::of(problem);
    const DType sum = accumulator_of(problem.in[0].dtype);
    std::vector<int64_t> forms{kMatmulForm};
    if (has_mma_form(problem)) forms.push_back(kMatmulMmaForm);
    if (has_wgmma_form(problem, card)) forms.push_back(kMatmulWgmmaForm);
    if (has_boxes_form(problem, card)) forms.push_back(kMatmulBoxesForm);
    const bool held = has_held_form(problem);
    const int64_t form = held ? int64_t{kMatmulHeldForm} : has_rows_form(problem) ? int64_t{kMatmulRowsForm} : forms.back();
    if (has_rows_form(problem)) forms.push_back(kMatmulRowsForm);
    if (held) forms.push_back(kMatmulHeldForm);
    std::sort(forms.begin(), forms.end());
    const ProductTile tile = tile_of(s, card);
    SearchSpace space = product_tile_space(tile, sum, kBuffers);
    space.knobs.insert(
        space.knobs.begin(),
        {"FORM", forms, form,
         "0 any product, sums of a thread; 1 tensor cores; 2 few rows; 3 tensor cores that read shared memory; 4 the same, copied by one warp; 5 few rows, B "
         "in registers"});
    if (has_mma_form(problem)) add_mma_knobs(space, problem, card);
    WgmmaStarter wgmma;
    if (has_wgmma_form(problem, card)) {
      wgmma = has_boxes_form(problem, card) ? starter_boxes(problem, card) : starter_wgmma(problem, card);
      add_wgmma_tile_knobs(space, wgmma, {16, 32, 48, 64, 96, 128, 192, 256});
    }
    if (has_rows_form(problem)) add_rows_knobs(space, problem, held ? starter_held_warps(problem) : kStarterRowsWarps);
    if (held) add_held_knobs(space);
    const int64_t split = form == kMatmulHeldForm         ? 1
                          : form == kMatmulRowsForm       ? starter_rows_split(problem, card)
                          : has_wgmma_form(problem, card) ? wgmma.split
                          : form == kMatmulMmaForm        ? starter_mma_split(problem, card)
                                                          : split_of(s, tile, card);
    space.knobs.push_back({"SPLIT_K", {1, 2, 3, 4, 6, 8, 16}, split, "blocks that share the steps of K"});
    const bool declared = !declared_algorithm(problem).empty();
    space.refuse = [=](const Knobs& k) -> std::string {
      if (declared) return "a card has no form of this declared algorithm yet";
      if (k.at("FORM") == kMatmulWgmmaForm) return refused_wgmma_tile(k);
      if (k.at("FORM") == kMatmulBoxesForm) return refused_boxes(problem, k);
      if (k.at("FORM") == kMatmulHeldForm) return refused_held(k);
      std::string refusal = refused_parts(k.at("SPLIT_K"), s.batch * s.m * s.n * static_cast<int64_t>(size_of(sum)));
      if (refusal.empty() && k.at("FORM") == kMatmulForm) refusal = refused_tile(k, sum, kBuffers);
      if (refusal.empty() && k.at("FORM") == kMatmulMmaForm) refusal = refused_mma(problem, k);
      return refusal;
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo& card) const override {
    const Problem& problem = variant.problem;
    const Access &a = problem.in[0], &b = problem.in[1], &c = problem.out[0];
    const MatmulSizes s = MatmulSizes::of(problem);
    const size_t rank = c.shape.size();
    const Shape batch(c.shape.begin(), c.shape.end() - 2);
    const DType sum = accumulator_of(a.dtype);
    const std::string alpha = alpha_text(MatmulParams::of(problem).alpha, sum);
    const int64_t form = variant.knobs.at("FORM");
    if (form == kMatmulBoxesForm) return boxes_text(problem, variant.knobs, card, boxes_of_matrix_text(problem));
    std::string knobs;
    for (const auto& [name, value] : variant.knobs) knobs += cuda_sizes({{name, value}});
    return join_text({cuda_opening(problem),
                      cuda_sizes({{"BATCH", s.batch},
                                  {"M", s.m},
                                  {"N", s.n},
                                  {"K", s.k},
                                  {"A_ROW", a.strides[rank - 2]},
                                  {"A_COLUMN", a.strides[rank - 1]},
                                  {"B_ROW", b.strides[rank - 2]},
                                  {"B_COLUMN", b.strides[rank - 1]},
                                  {"C_ROW", c.strides[rank - 2]},
                                  {"C_COLUMN", c.strides[rank - 1]}}),
                      knobs, alpha, fmt::format("typedef {} a_t;\ntypedef {} b_t;\ntypedef {} sum_t;\n", c_type(a.dtype), c_type(b.dtype), register_type(sum)),
                      fmt::format("static inline sum_t load_a(a_t x) {{ return {}; }}\nstatic inline sum_t load_b(b_t x) {{ return {}; }}\n",
                                  load_text(a.dtype, "x"), load_text(b.dtype, "x")),
                      batch_text("begin_of_a", batch, a), batch_text("begin_of_b", batch, b), batch_text("begin_of_c", batch, c), cuda_epilogue(problem, 2),
                      finish_text(problem, batch), form_text(problem, variant.knobs),
                      launches_text(variant.knobs.at("SPLIT_K") > 1 && form != kMatmulWgmmaForm)});
  }
};

}  // namespace

const KernelImplementation* matmul_on_cuda() {
  static const MatmulOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl
