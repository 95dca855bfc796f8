#include "bench/trust/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "starter_kernels/examples/example_graph.h"

namespace amdahl::trust {
namespace {

// Arithmetic: 0.2 GFLOP, a weight that several instances hold without filling memory.
NamedWindow gemm() {
  ExampleGraph g("gemm");
  const ValueId x = g.input({512, 448});
  return {"gemm", "matrix product [512, 448] x [448, 448]", g.finish({g.node("MatMul", {x, g.normal({448, 448}, 1)})})};
}

// Vector arithmetic on data that fit the L2 caches.
NamedWindow gelu() {
  ExampleGraph g("gelu", 20);
  return {"gelu", "GELU of [256, 768]", g.finish({g.node("Gelu", {g.input({256, 768})})})};
}

// Two folds over each row.
NamedWindow layernorm() {
  ExampleGraph g("layernorm");
  const ValueId x = g.input({768, 768});
  const ValueId y = g.node("LayerNormalization", {x, g.normal({768}, 1, 1), g.normal({768}, 2)}, {{"epsilon", 1e-5}});
  return {"layernorm", "layer normalisation of [768, 768]", g.finish({y})};
}

constexpr struct {
  const char* name;
  NamedWindow (*make)();
} kWindows[] = {{"gemm", gemm}, {"gelu", gelu}, {"layernorm", layernorm}};

}  // namespace

std::vector<std::string> window_names() {
  std::vector<std::string> names;
  for (const auto& w : kWindows) names.push_back(w.name);
  return names;
}

NamedWindow make_window(const std::string& name) {
  for (const auto& w : kWindows)
    if (name == w.name) return w.make();
  throw Error(ExitCode::kUsage, fmt::format("no window is called '{}': use one of {}", name, fmt::join(window_names(), ", ")));
}

}  // namespace amdahl::trust
