// Recognised: (x - mean) / sqrt(mean((x - mean)^2) + eps), and without the mean (RMSNorm) as x / sqrt(…), x * (1 / sqrt(…)) or
// x * Reciprocal(…); then a scale and a shift of rows, if they follow.
#include "playbook/norm_pattern.h"

#include "playbook/fusion.h"
#include "playbook/node_pattern.h"
#include "playbook/node_window.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/normalization.h"

namespace amdahl {
namespace {

struct Found {
  std::set<NodeId> core;
  ValueId x = kNoValue, out = kNoValue, scale = kNoValue, shift = kNoValue;
  int64_t axis = 0;
  double epsilon = 0;
  bool centred = false;
};

// The mean that is subtracted before, where there is one: then x is what it is of.
void find_centre(const NodePattern& p, Found& f) {
  const NodeId sub = p.producer(f.x, "Sub");
  if (sub < 0) return;
  const ValueId x = p.node(sub).inputs[0];
  const NodeId mean = p.producer(p.node(sub).inputs[1], "ReduceMean");
  if (mean < 0 || p.mean_axis(mean) != f.axis || p.node(mean).inputs[0] != x || p.sole_consumer(p.out(mean), "Sub") != sub) return;
  f.centred = true;
  f.x = x;
  f.core.insert({sub, mean});
}

// `numerator` divided by the root, or times its inverse; "" or what is missing.
std::string find_quotient(const NodePattern& p, NodeId root, ValueId numerator, Found& f) {
  NodeId result = p.sole_consumer(p.out(root), "Div");
  if (result >= 0 && p.node(result).inputs[1] == p.out(root) && p.node(result).inputs[0] == numerator) {
    f.core.insert(result);
  } else {
    const bool is_inverse = result >= 0 && p.node(result).inputs[1] == p.out(root) && p.scalar(p.node(result).inputs[0]) == 1.0;
    const NodeId inverse = is_inverse ? result : p.sole_consumer(p.out(root), "Reciprocal");
    if (inverse < 0) return "nothing is divided by the root";
    result = p.sole_consumer(p.out(inverse), "Mul");
    if (result < 0 || p.other(result, p.out(inverse)) != numerator) return "the input is not scaled by the inverse root";
    f.core.insert({inverse, result});
  }
  f.out = p.out(result);
  return "";
}

// The other operand of an `op` that alone reads the result so far, when it is a parameter of the rows; then the result is that of `op`.
ValueId take_row_parameter(const NodePattern& p, const char* op, Found& f) {
  const NodeId node = p.sole_consumer(f.out, op);
  if (node < 0) return kNoValue;
  const ValueId parameter = p.other(node, f.out);
  const Shape& space = p.shape(f.x);
  if (parameter == f.out || !p.is_row_parameter(parameter, space, f.axis) || p.shape(p.out(node)) != space) return kNoValue;
  f.out = p.out(node);
  f.core.insert(node);
  return parameter;
}

// From the mean of squares forward to the quotient; "" or what is missing.
std::string recognise(const NodePattern& p, NodeId mean_square, Found& f) {
  const auto axis = p.mean_axis(mean_square);
  if (!axis) return "no ReduceMean over the last dimensions";
  f.axis = *axis;
  const NodeId square = p.square_producer(p.node(mean_square).inputs[0]);
  if (square < 0 || p.sole_consumer(p.out(square), "ReduceMean") != mean_square) return "not a mean of squares";
  const ValueId numerator = p.square_of(square);
  f.x = numerator;
  f.core = {mean_square, square};
  find_centre(p, f);
  const auto eps = p.shifted(p.out(mean_square));
  if (eps.node < 0) return "no epsilon is added to the mean";
  const NodeId root = p.sole_consumer(p.out(eps.node), "Sqrt");
  if (root < 0) return "no square root of the mean";
  f.epsilon = eps.by;
  f.core.insert({eps.node, root});
  if (std::string missing = find_quotient(p, root, numerator, f); !missing.empty()) return missing;
  if (p.shape(f.out) != p.shape(f.x)) return "the quotient has another shape";
  f.scale = take_row_parameter(p, "Mul", f);
  if (f.scale != kNoValue) f.shift = take_row_parameter(p, "Add", f);
  return "";
}

}  // namespace

std::optional<Match> match_norm(const RewriteContext& context, int anchor, bool centred, std::string* refusal) {
  const auto refused = [&](std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  };
  const NodePattern pattern(context);
  Found found;
  std::string reason = "no ReduceMean here";
  for (NodeId n : context.plan.steps[static_cast<size_t>(anchor)].nodes)
    if (pattern.is(n, "ReduceMean")) {
      found = {};
      reason = recognise(pattern, n, found);
      if (reason.empty()) break;
    }
  if (!reason.empty()) return refused(reason);
  if (found.centred != centred) return refused(centred ? "the mean is not subtracted" : "the mean is subtracted");

  const Graph& graph = context.graph;
  const Shape& space = pattern.shape(found.x);
  Step step;
  step.nodes.assign(found.core.begin(), found.core.end());
  Problem& p = step.variant.problem;
  p.kind = centred ? kind::kLayerNorm : kind::kRmsNorm;
  p.threads = context.plan.threads;
  const auto read = [&](ValueId v) {
    step.inputs.push_back({context.storage[static_cast<size_t>(v)], ""});
    p.in.push_back(broadcast_access(graph, v, space));
  };
  read(found.x);
  NormalizationParams params;
  params.axis = found.axis;
  params.epsilon = found.epsilon;
  params.scale = found.scale != kNoValue;
  params.shift = found.shift != kNoValue;
  params.write(p);
  if (params.scale) read(found.scale);
  if (params.shift) read(found.shift);
  step.outputs = {{context.storage[static_cast<size_t>(found.out)], ""}};
  p.out = {Access::dense(graph.value(found.out).dtype, space)};
  repair_knobs(context, step);
  auto match = replace_nodes(context, found.core, {}, step, refusal);
  if (match) open_knobs(context, *match, match->replacement.size() - 1, {"STREAM", "OVERLAP", "ROWS_PER_TASK", "VECTOR_BITS", "WELFORD"});
  return match;
}

}  // namespace amdahl
