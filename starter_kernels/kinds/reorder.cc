// Format conversion of an f32 operand [N, C, spatial…]: in[0] and out[0] hold the same values, one of them row-major,
// the other in channel blocks. Covers no node of the graph; plans get it from the rewrites that carry blocked layouts.

#include <fmt/format.h>

#include "base/error.h"
#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kernel_kinds.h"

namespace amdahl {
namespace {

class Reorder : public KernelKind {
 public:
  std::string_view name() const override { return "reorder"; }
  std::string_view summary() const override {
    return "storage format conversion: row-major to channel blocks and back";
  }

  Work work(const Problem& problem) const override {
    return {0,
            2.0 * static_cast<double>(numel(problem.in[0].shape)) * static_cast<double>(size_of(problem.in[0].dtype))};
  }

  SearchSpace space(const Problem&, const MachineInfo&) const override {
    return {{}, [](const Knobs&) { return std::string(); }};
  }

  std::string source(const Variant& variant) const override {
    const Problem& problem = variant.problem;
    const int64_t in = channel_block(format_of_input(problem, 0)), out = channel_block(format_of_output(problem, 0));
    if ((in == 0) == (out == 0) || problem.in[0].dtype != DType::kF32)
      throw Error(ExitCode::kInternal, "reorder: f32, with one operand row-major and the other in channel blocks");
    const Shape& shape = problem.in[0].shape;
    return fmt::format(
               "#include <stddef.h>\n#include <stdint.h>\n\nconstexpr int THREADS = {};\n"
               "constexpr int64_t N = {}, C = {}, P = {}, BLOCK = {};\nconstexpr bool TO_BLOCKS = {};\n\n",
               problem.threads, shape.at(0), shape.at(1), numel({shape.begin() + 2, shape.end()}), in + out, out > 0) +
           std::string(embedded_source("cpu/reorder.cpp"));
  }

  std::optional<Lowering> lower(const Graph&, const Node&, int) const override { return std::nullopt; }
  std::vector<Graph> examples() const override { return {}; }  // no node lowers to it
};

}  // namespace

const KernelKind* reorder_kind() {
  static const Reorder kind;
  return &kind;
}

}  // namespace amdahl
