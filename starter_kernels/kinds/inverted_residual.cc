// inverted_residual: y = project(depthwise(expand(x))), three convolutions with their epilogues; float32 on channel blocks, constant weights.
//
// in[0] = x [N, C, H, W], in[1] = w [E, C, 1, 1], in[2] = w [E, 1, KH, KW], in[3] = w [O, E, 1, 1]; then the extra operands of each convolution's
// epilogue in turn, accesses over its own output; out[0] = y [N, O, OH, OW]. No single node is this kind: a rewrite makes it.

#include "starter_kernels/kinds/inverted_residual.h"

#include "graph/graph.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kernel_kind.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

class InvertedResidual : public KernelKind {
 public:
  std::string_view name() const override { return kind::kInvertedResidual; }
  std::string_view summary() const override { return "convolutions 1x1, depthwise and 1x1, row by row, what lies between in L2"; }
  Traits traits() const override { return {.family = Traits::Family::kProducts}; }

  Work work(const Problem& problem) const override {
    Work work;
    const InvertedResidualParams parts = InvertedResidualParams::of(problem);
    for (const Problem* part : {&parts.expand, &parts.depthwise, &parts.project}) work.flops += kernel_kind(kind::kConv).work(*part).flops;
    for (const auto* side : {&problem.in, &problem.out})
      for (const Access& a : *side) work.bytes += static_cast<double>(numel(a.shape) * static_cast<int64_t>(size_of(a.dtype)));
    return work;
  }

  std::optional<Lowering> lower(const Graph&, const Node&, int) const override { return std::nullopt; }
  std::vector<Graph> examples() const override { return {}; }
};

}  // namespace

InvertedResidualParams InvertedResidualParams::of(const Problem& problem) {
  const auto part = [&](const char* key) { return problem.params.at(key).get<Problem>(); };
  return {part("expand"), part("depthwise"), part("project")};
}

void InvertedResidualParams::write(Problem& problem) const {
  problem.params["expand"] = expand;
  problem.params["depthwise"] = depthwise;
  problem.params["project"] = project;
}

Problem inverted_residual_problem(const Problem& expand, const Problem& depthwise, const Problem& project) {
  Problem fused;
  fused.kind = kind::kInvertedResidual;
  fused.threads = project.threads;
  fused.in = {expand.in[0], expand.in[1], depthwise.in[1], project.in[1]};
  fused.out = project.out;
  std::vector<std::string> formats{format_of_input(expand, 0), "", "", ""};
  for (const Problem* part : {&expand, &depthwise, &project})
    for (size_t i = 2; i < part->in.size(); ++i) {
      fused.in.push_back(part->in[i]);
      formats.push_back(format_of_input(*part, i));
    }
  InvertedResidualParams{expand, depthwise, project}.write(fused);
  set_formats(fused, formats, {format_of_output(project, 0)});
  return fused;
}

const KernelKind* inverted_residual_kind() {
  static const InvertedResidual kind;
  return &kind;
}

}  // namespace amdahl
