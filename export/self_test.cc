#include "export/self_test.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {
namespace {

std::string tensors_text(const Graph& graph, const std::vector<ValueId>& values) {
  Json list = Json::array();
  for (ValueId v : values) list.push_back(Json::array({graph.value(v).name, std::string(name_of(graph.value(v).dtype)), graph.value(v).shape}));
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Portable kernels round a product and its sum apart where the tuned ones fuse them, and the error of few outputs is luck: DistilBERT's two logits were
// 4.7e-7 off with the tuned kernels and 2.1e-6 with the portable ones. A wrong weight or operator is off by far more.
// Of outputs in half precision it is a last place that may be another.
double other_rounding(const Graph& graph) {
  double largest = 1e-5;
  for (ValueId v : graph.outputs) {
    if (graph.value(v).dtype == DType::kF16) largest = std::max(largest, 0x1p-10);
    if (graph.value(v).dtype == DType::kBF16) largest = std::max(largest, 0x1p-7);
  }
  return largest;
}

}  // namespace

void write_self_test(ExportFolder& folder, const SelfTestCase& test) {
  folder.binary("selftest.bin", [&](std::ostream& out) {
    for (const std::vector<Tensor>* list : {&test.inputs, &test.expected})
      for (const Tensor& t : *list) out.write(reinterpret_cast<const char*>(t.data()), static_cast<std::streamsize>(t.bytes()));
  });
}

Words self_test_words(const ExportRequest& request) {
  return {{"NAME", c_identifier(request.name)},
          {"PROVENANCE", in_comment(request.provenance)},
          {"THREADS", fmt::format("{}", request.plan.threads)},
          {"COUNTED_THREADS", counted(request.plan.threads, "OpenMP thread")},
          {"LIMIT", fmt::format("{:.3e}", std::max(2 * request.self_test.relative_norm, other_rounding(request.graph)))},
          {"MILLISECONDS", fmt::format("{:.4f}", request.milliseconds)},
          {"INPUTS", tensors_text(request.graph, request.graph.inputs)},
          {"OUTPUTS", tensors_text(request.graph, request.graph.outputs)}};
}

}  // namespace amdahl
