// How an NVIDIA card computes the pointwise kind (starter_kernels/kinds/pointwise.cc).

#include "starter_kernels/kinds/pointwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// `run_point(in, out, n)`: all outputs at the n-th point.
std::string point_text(const Problem& problem, const IndexSpace& space) {
  const PointwiseProgram program = PointwiseParams::of(problem).program;
  const size_t inputs = problem.in.size();
  const auto element = [&](size_t operand, const std::string& pointer, DType dtype, const char* qualifier) {
    return fmt::format("(({}{}*){})[{}]", qualifier, c_type(dtype), pointer, offset_text(space.strides[operand], 0, space.offsets[operand]));
  };
  std::string text = "static inline void run_point(const void* const* in, void* const* out, int64_t n) {\n" + unflatten_text("n", space.dims, 0, "  ");
  std::string arguments, results;
  for (size_t k = 0; k < inputs; ++k)
    arguments += (k ? ", " : "") + load_text(problem.in[k].dtype, element(k, fmt::format("in[{}]", k), problem.in[k].dtype, "const "));
  const bool single = program.results.size() == 1;
  if (!single) {
    for (size_t r = 0; r < problem.out.size(); ++r) {
      text += fmt::format("  {} r{};\n", register_type(type_of_value(program, program.results[r])), r);
      arguments += fmt::format("{}&r{}", arguments.empty() ? "" : ", ", r);
    }
    text += fmt::format("  program({});\n", arguments);
  }
  for (size_t r = 0; r < problem.out.size(); ++r) {
    const std::string value = single ? fmt::format("program({})", arguments) : fmt::format("r{}", r);
    text += fmt::format("  {} = {};\n", element(inputs + r, fmt::format("out[{}]", r), problem.out[r].dtype, ""), store_text(problem.out[r].dtype, value));
  }
  return text + "}\n";
}

class PointwiseOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPointwise; }

  SearchSpace space(const Problem&, const DeviceInfo&) const override {
    return {{{"THREADS", {64, 128, 256, 512}, 256, "threads of a block"},
             {"EACH", {1, 2, 4, 8}, 4, "elements of a thread, THREADS apart: as many loads are in flight"}},
            [](const Knobs&) { return std::string(); },
            {}};
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const IndexSpace space = collapse(problem);
    return join_text({cuda_opening(problem),
                      cuda_sizes({{"POINTS", space.points()}, {"THREADS", variant.knobs.at("THREADS")}, {"EACH", variant.knobs.at("EACH")}}),
                      emit_program(PointwiseParams::of(problem).program, "program"), point_text(problem, space), std::string(cuda_text("pointwise.cu"))});
  }
};

}  // namespace

const KernelImplementation* pointwise_on_cuda() {
  static const PointwiseOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl
