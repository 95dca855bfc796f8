#include "cli/find_padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/printable.h"
#include "cli/make_self_test.h"
#include "cli/prepare_model.h"
#include "cli/progress.h"
#include "graph/models/bucket_axes.h"
#include "graph/models/load_model.h"
#include "graph/models/padding.h"
#include "plan/bucket_part.h"

namespace amdahl {
namespace {

LoadOptions combined(LoadOptions a, const LoadOptions& b, int64_t (*size)(int64_t, int64_t)) {
  a.batch = size(a.batch, b.batch);
  a.seq = size(a.seq, b.seq);
  a.image = size(a.image, b.image);
  for (auto& [name, shape] : a.input_shapes)
    for (size_t axis = 0; axis < shape.size(); ++axis) shape[axis] = size(shape[axis], b.input_shapes.at(name)[axis]);
  return a;
}

int64_t middle(int64_t below, int64_t above) { return (below + above) / 2; }
// Of what differs between shapes.
int64_t half(int64_t smallest, int64_t other) { return smallest == other ? smallest : std::max<int64_t>(1, smallest / 2); }

std::string input_shapes_of(const Graph& graph) {
  std::string text;
  for (ValueId v : graph.inputs) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown(graph.value(v).name), to_string(graph.value(v).shape));
  return text;
}

// Whether zeros can be appended to these inputs to make them inputs of the larger model.
bool fits(const Graph& small, const Graph& large) {
  for (size_t i = 0; i < small.inputs.size(); ++i)
    for (size_t a = 0; a < small.value(small.inputs[i]).shape.size(); ++a)
      if (small.value(small.inputs[i]).shape[a] > large.value(large.inputs[i]).shape[a]) return false;
  return true;
}

// "" when the plan of the larger shape computes the smaller model, on padded inputs.
std::string try_padding(const BucketPart& large, const Graph& small, const PaddingFinding::Case& test, double limit, const GlobalOptions& global) {
  if (!fits(small, large.graph)) return fmt::format("a tuned shape is not larger in every size than {}", input_shapes_of(small));
  PreparedModel model(large.graph, large.plan, global);
  for (size_t i = 0; i < test.inputs.size(); ++i) model.set_input(static_cast<int>(i), padded(test.inputs[i], large.graph.value(large.graph.inputs[i]).shape));
  model.run_timed();
  for (size_t o = 0; o < test.expected.size(); ++o) {
    const double error = relative_norm(cropped(model.output(static_cast<int>(o)), test.expected[o].shape()), test.expected[o]);
    if (!(error <= limit))
      return fmt::format("{} of {}, computed as {} with zeros appended, is {:.2g} from float64 where {:.2g} is right",
                         shown(small.value(small.outputs[o]).name), input_shapes_of(small), input_shapes_of(large.graph), error, limit);
  }
  return "";
}

}  // namespace

PaddingFinding find_padding(const ShapedPlan& shaped, double limit, const GlobalOptions& global) {
  PaddingFinding finding;
  if (!output_axes(shaped.graph)) return {{}, "the size of an output follows no size of an input"};
  const std::vector<size_t> order = buckets_by_size(shaped.graph);
  for (size_t k = 0; k < order.size(); ++k) {
    const LoadOptions& upper = shaped.sizes[order[k]].options;
    const LoadOptions& next = shaped.sizes[order[k == 0 ? 1 : k - 1]].options;
    const LoadOptions options = combined(upper, next, k == 0 ? half : middle);
    if (options == upper || options == next) continue;  // nothing between
    Progress progress("shapes between", global.progress());
    progress.update(static_cast<double>(k), static_cast<double>(order.size()), "below " + shaped.sizes[order[k]].name);
    std::optional<Graph> small;
    try {
      small = load_model(shaped.model, options);
    } catch (const Error& e) {
      return {{}, fmt::format("the model cannot be loaded at a shape below {}: {}", shaped.sizes[order[k]].name, e.what())};
    }
    PaddingFinding::Case test;
    for (ValueId v : small->inputs) test.inputs.push_back(example_input(*small, v, 2));
    test.expected = reference_outputs(*small, test.inputs);
    finding.refusal = try_padding(bucket_part(shaped.graph, shaped.plan, order[k]), *small, test, limit, global);
    if (!finding.refusal.empty()) return {{}, finding.refusal};
    finding.cases.push_back(std::move(test));
  }
  return finding;
}

}  // namespace amdahl
