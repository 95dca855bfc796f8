#include "cli/find_padding.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "cli/make_self_test.h"
#include "cli/prepare_model.h"
#include "cli/progress.h"
#include "graph/bucket_axes.h"
#include "graph/padding.h"
#include "plan/bucket_part.h"

namespace amdahl {
namespace {

int64_t middle(int64_t below, int64_t above) { return (below + above) / 2; }

// Half-way between two shapes, axis by axis.
LoadOptions between(const LoadOptions& below, const LoadOptions& above) {
  LoadOptions options = above;
  options.batch = middle(below.batch, above.batch);
  options.seq = middle(below.seq, above.seq);
  options.image = middle(below.image, above.image);
  for (auto& [name, shape] : options.input_shapes)
    for (size_t a = 0; a < shape.size(); ++a) shape[a] = middle(below.input_shapes.at(name)[a], shape[a]);
  return options;
}

// Half of what differs from `other`, but 1 at least.
LoadOptions below(const LoadOptions& smallest, const LoadOptions& other) {
  const auto half = [](int64_t size, int64_t other_size) { return size == other_size ? size : std::max<int64_t>(1, size / 2); };
  LoadOptions options = smallest;
  options.batch = half(smallest.batch, other.batch);
  options.seq = half(smallest.seq, other.seq);
  options.image = half(smallest.image, other.image);
  for (auto& [name, shape] : options.input_shapes)
    for (size_t a = 0; a < shape.size(); ++a) shape[a] = half(shape[a], other.input_shapes.at(name)[a]);
  return options;
}

bool same_sizes(const LoadOptions& a, const LoadOptions& b) {
  return a.batch == b.batch && a.seq == b.seq && a.image == b.image && a.input_shapes == b.input_shapes;
}

std::string input_shapes_of(const Graph& graph) {
  std::string text;
  for (ValueId v : graph.inputs) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", graph.value(v).name, to_string(graph.value(v).shape));
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
      return fmt::format("{} of {}, computed as {} with zeros appended, is {:.2g} from float64 where {:.2g} is right", small.value(small.outputs[o]).name,
                         input_shapes_of(small), input_shapes_of(large.graph), error, limit);
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
    const LoadOptions options = k == 0 ? below(upper, shaped.sizes[order[1]].options) : between(shaped.sizes[order[k - 1]].options, upper);
    if (same_sizes(options, upper) || (k > 0 && same_sizes(options, shaped.sizes[order[k - 1]].options))) continue;  // nothing between
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
