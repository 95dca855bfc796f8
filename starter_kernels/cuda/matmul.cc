// How an NVIDIA card computes the matmul kind (starter_kernels/kinds/matmul.cc).

#include "starter_kernels/kinds/matmul.h"

#include <fmt/format.h>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/matmul_mma.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/number_text.h"
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

// What the sum is multiplied with; of integers nothing is.
std::string alpha_text(double alpha, DType sum) {
  if (alpha == 1) return "#define ALPHA\n";
  return fmt::format("#define ALPHA * {}\n", sum == DType::kF64 ? double_text(alpha) : float_text(alpha));
}

class MatmulOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kMatmul; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    SearchSpace space;
    space.knobs = {{"TM", {1, 2, 4, 8}, 4, "rows of C a thread"},
                   {"TN", {1, 2, 4, 8}, 4, "columns of C a thread"},
                   {"BLOCK_M", {4, 8, 16, 32}, 16, "threads of a block along M"},
                   {"BLOCK_N", {8, 16, 32}, 16, "threads of a block along N"},
                   {"BK", {8, 16, 32}, 16, "steps of K in shared memory"}};
    const bool on_tensor_cores = has_mma_form(problem);
    if (on_tensor_cores) add_mma_knobs(space, problem, card);
    const bool declared = !declared_algorithm(problem).empty();
    const int64_t element = static_cast<int64_t>(size_of(accumulator_of(problem.in[0].dtype)));
    space.refuse = [=](const Knobs& k) -> std::string {
      if (declared) return "a card has no form of this declared algorithm yet";
      if (on_tensor_cores && k.at("FORM") == kMatmulMmaForm) return refused_mma(problem, k);
      const int64_t threads = k.at("BLOCK_M") * k.at("BLOCK_N");
      if (threads < 32 || threads > 1024) return fmt::format("a block of {} threads: 32 to 1024 are possible", threads);
      const int64_t shared = (k.at("TM") * k.at("BLOCK_M") + k.at("TN") * k.at("BLOCK_N") + 2) * k.at("BK") * element;
      if (shared > 48 << 10) return fmt::format("a block's tiles take {} bytes of shared memory, and 49152 are there", shared);
      return "";
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const Access &a = problem.in[0], &b = problem.in[1], &c = problem.out[0];
    const MatmulSizes s = MatmulSizes::of(problem);
    const size_t rank = c.shape.size();
    const Shape batch(c.shape.begin(), c.shape.end() - 2);
    const DType sum = accumulator_of(a.dtype);
    const std::string alpha = alpha_text(MatmulParams::of(problem).alpha, sum);
    const bool on_tensor_cores = variant.knobs.contains("FORM") && variant.knobs.at("FORM") == kMatmulMmaForm;
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
                      finish_text(problem, batch), on_tensor_cores ? mma_text(problem, variant.knobs) : std::string(cuda_text("matmul.cu"))});
  }
};

}  // namespace

const KernelImplementation* matmul_on_cuda() {
  static const MatmulOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl
