#include "starter_kernels/kinds/normalization.h"

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/number_text.h"

namespace amdahl {
namespace {

bool flag(const Problem& problem, const char* name) { return problem.params.value(name, false); }

// Operands of the space: all inputs, then all outputs.
RowSpace space_of(const Problem& problem) {
  const Shape& shape = problem.out[0].shape;
  std::vector<bool> reduced(shape.size(), false);
  if (problem.params.contains("axes")) {
    for (size_t d : problem.params.at("axes").get<std::vector<size_t>>()) reduced.at(d) = true;
  } else {
    for (size_t d = problem.params.at("axis").get<size_t>(); d < shape.size(); ++d) reduced[d] = true;
  }
  std::vector<Access> operands = problem.in;
  operands.insert(operands.end(), problem.out.begin(), problem.out.end());
  return RowSpace(shape, reduced, operands, false);
}

// Rows lie in in[0] as one run of reals each: nothing has to be made before they are summed.
bool lies_as_reals(const Problem& problem, const RowSpace& space) {
  return !problem.params.contains("prologue") && problem.in[0].dtype == row_type(problem) && space.outer == 1 && space.is_contiguous(0);
}

// `static inline const real* direct(in, o)`: row o where it lies.
std::string direct_text(const RowSpace& space, bool direct) {
  if (!direct) return "static inline const real* direct(const void* const*, int64_t) { return nullptr; }\n";
  return place_text(space, "place_of_row", 0) + "static inline const real* direct(const void* const* in, int64_t o) { return (const real*)in[0] + place_of_row(o, 0, 0, 0); }\n";
}

// `T term(T v)`, of numbers and of vectors: what rmsnorm sums of an element, and `real inverse_of(real sum)`, the factor of a row.
std::string divisor_text(const Problem& problem) {
  const std::string divisor = problem.params.value("divisor", "");
  std::string inverse = "1 / scalar::sqrt(sum / (real)(R * J) + EPSILON)";
  if (divisor == "deviation") inverse = "1 / (scalar::sqrt(sum / (real)(R * J)) + EPSILON)";
  if (divisor == "l1") inverse = "sum == 0 ? 0 : 1 / sum";
  if (divisor == "l2") inverse = "sum == 0 ? 0 : 1 / scalar::sqrt(sum)";
  return fmt::format("constexpr real EPSILON = (real){};\n", double_text(number_of(problem.params.at("epsilon")))) +
         fmt::format("template <class T> SCALAR T term(T v) {{ return {}; }}\n", divisor == "l1" ? "v < 0 ? -v : v" : "v * v") +
         fmt::format("SCALAR real inverse_of(real sum) {{ return {}; }}\n", inverse);
}

// `static inline void write_input(out, x, o, r)` and `write_statistics(out, o, mean, inverse)`; empty where not wanted.
std::string extra_outputs_text(const Problem& problem, const RowSpace& space) {
  const size_t inputs = problem.in.size();
  size_t next = 1;
  std::string text = "static inline void write_input(void* const* out, const real* x, int64_t o, int64_t r) {\n";
  std::string places;
  if (flag(problem, "keep_input")) {
    const DType type = problem.out[next].dtype;
    places += place_text(space, "place_of_input", inputs + next);
    text += fmt::format("  {0}* y = ({0}*)out[{1}];\n#pragma omp simd\n  for (int64_t j = 0; j < J; ++j) y[place_of_input(o, r, j, 0)] = {2};\n",
                        c_type(type), next, store_text(type, "x[j]"));
    ++next;
  }
  text += "}\nstatic inline void write_statistics(void* const* out, int64_t o, real mean, real inverse) {\n";
  for (const auto& [key, value] : {std::pair{"keep_mean", "mean"}, std::pair{"keep_inverse", "inverse"}}) {
    if (!flag(problem, key)) continue;
    const DType type = problem.out[next].dtype;
    places += place_text(space, fmt::format("place_of_{}", value), inputs + next);
    text += fmt::format("  (({}*)out[{}])[place_of_{}(o, 0, 0, 0)] = {};\n", c_type(type), next, value, store_text(type, value));
    ++next;
  }
  return places + text + "}\n";
}

}  // namespace

Work normalization_work(const Problem& problem) {
  Work w{8.0 * static_cast<double>(numel(problem.out[0].shape)), 0};
  for (const Access& a : problem.in) w.bytes += operand_bytes(a);
  for (const Access& a : problem.out) w.bytes += operand_bytes(a);
  return w;
}

SearchSpace normalization_space(const Problem& problem, const MachineInfo& machine, bool welford) {
  const RowSpace space = space_of(problem);
  SearchSpace s;
  s.knobs = {rows_knob(problem, space.rows, static_cast<double>(space.outer * space.along) * 0.4), vector_bits_knob(machine)};
  if (welford) s.knobs.push_back({"WELFORD", {0, 1}, 0, "1: moments of blocks, merged: one walk over memory"});
  if (space.is_contiguous(problem.in.size()) && size_of(problem.out[0].dtype) <= size_of(row_type(problem)))
    s.knobs.push_back({"STREAM", {0, 1}, 0, "1: the result bypasses the caches"});
  if (lies_as_reals(problem, space) && space.is_contiguous(problem.in.size()))
    s.knobs.push_back({"OVERLAP", {0, 1}, 0, "1: a row is summed while the one before it is written"});
  s.refuse = [](const Knobs& knobs) {
    const auto on = [&](const char* name) { return knobs.count(name) && knobs.at(name) != 0; };
    return std::string(on("WELFORD") && on("OVERLAP") ? "a row of which moments of blocks are wanted is not summed before" : "");
  };
  return s;
}

std::string normalization_source(const Variant& variant, std::string_view body) {
  const Problem& problem = variant.problem;
  const RowSpace space = space_of(problem);
  const auto knob = [&](const char* name) { return variant.knobs.count(name) ? variant.knobs.at(name) : 0; };
  size_t next = prologue_inputs(problem);
  const auto parameter = [&](const char* key) { return flag(problem, key) ? static_cast<int>(next++) : -1; };
  const int scale = parameter("scale"), shift = parameter("shift");
  const bool direct = lies_as_reals(problem, space);
  const std::string choices = fmt::format("constexpr bool WELFORD = {}, OVERLAP = {}, DIRECT = {}, RESULT_IS_RUN = {};\nconstexpr int64_t VECTOR_BITS = {};\n#define STREAM {}\n",
                                          knob("WELFORD") != 0, knob("OVERLAP") != 0, direct, space.is_contiguous(problem.in.size()), variant.knobs.at("VECTOR_BITS"), knob("STREAM"));
  return join_text({opening_text(variant), space.sizes_text(), input_text(problem, space), choices, direct_text(space, direct), divisor_text(problem),
                    tasks_text(problem, variant.knobs, space.rows, direct ? 0 : space.outer * space.along, row_type(problem)),
                    streaming_text(variant.knobs),
                    operand_text(problem, space, "scale", scale, static_cast<size_t>(std::max(scale, 0)), "1"),
                    operand_text(problem, space, "shift", shift, static_cast<size_t>(std::max(shift, 0)), "0"),
                    finish_text(problem, space, next, next), place_text(space, "place", problem.in.size()),
                    extra_outputs_text(problem, space), std::string(embedded_source("cpu/rows.h")),
                    std::string(embedded_source("cpu/row_vectors.h")), std::string(body)});
}

std::optional<Lowering> lower_layer(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  int64_t axis = node.attr_int("axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(x.shape.size());
  Lowering l;
  Problem& p = l.variant.problem;
  l.inputs = {node.inputs[0]};
  p.in = {dense_access(graph, node.inputs[0])};
  p.out = {dense_access(graph, node.outputs[0])};
  l.outputs = {node.outputs[0]};
  for (size_t i = 1; i < 3; ++i) {
    if (i >= node.inputs.size() || node.inputs[i] == kNoValue) continue;
    Access a = dense_access(graph, node.inputs[i]);
    while (a.shape.size() > x.shape.size()) a.shape.erase(a.shape.begin()), a.strides.erase(a.strides.begin());
    l.inputs.push_back(node.inputs[i]);
    p.in.push_back(broadcast_access(a, x.shape));
    p.params[i == 1 ? "scale" : "shift"] = true;
  }
  const bool centred = node.op == "LayerNormalization";
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    l.outputs.push_back(node.outputs[i]);
    p.out.push_back(broadcast_access(graph, node.outputs[i], x.shape));
    p.params[centred && i == 1 ? "keep_mean" : "keep_inverse"] = true;
  }
  p.params["axis"] = axis;
  p.params["epsilon"] = number_json(node.attr_float("epsilon", 1e-5));
  return l;
}

namespace {

// One input, one output, both as they lie.
Lowering without_parameters(const Graph& graph, const Node& node, Json params) {
  Lowering l;
  l.inputs = {node.inputs[0]};
  l.outputs = {node.outputs[0]};
  l.variant.problem.in = {dense_access(graph, node.inputs[0])};
  l.variant.problem.out = {dense_access(graph, node.outputs[0])};
  l.variant.problem.params = std::move(params);
  return l;
}

int64_t counted_from_front(int64_t axis, const Shape& shape) { return axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis; }

}  // namespace

std::optional<Lowering> lower_mean_variance(const Graph& graph, const Node& node) {
  std::vector<int64_t> axes = node.attr_ints("axes", {0, 2, 3});
  for (int64_t& axis : axes) axis = counted_from_front(axis, graph.value(node.inputs[0]).shape);
  return without_parameters(graph, node, {{"axes", axes}, {"divisor", "deviation"}, {"epsilon", 1e-9}});
}

std::optional<Lowering> lower_lp(const Graph& graph, const Node& node) {
  const int64_t axis = counted_from_front(node.attr_int("axis", -1), graph.value(node.inputs[0]).shape);
  const char* divisor = node.attr_int("p", 2) == 1 ? "l1" : "l2";
  return without_parameters(graph, node, {{"axes", Shape{axis}}, {"divisor", divisor}, {"epsilon", 0.0}});
}

// The input as [batch, groups, channels of a group, pixels]; rows are the last two.
std::optional<Lowering> lower_channels(const Graph& graph, const Node& node) {
  const Value& x = graph.value(node.inputs[0]);
  const bool grouped = node.op == "GroupNormalization";
  const int64_t channels = x.shape[1], groups = grouped ? node.attr_int("num_groups", 1) : channels, inside = channels / groups;
  const Shape shape{x.shape[0], groups, inside, numel(x.shape) / std::max<int64_t>(1, x.shape[0] * channels)};
  const bool by_group = grouped && node.version < 21;
  const Shape parameter = by_group ? Shape{groups, 1, 1} : Shape{groups, inside, 1};
  Lowering l;
  Problem& p = l.variant.problem;
  l.inputs = {node.inputs[0], node.inputs[1], node.inputs[2]};
  l.outputs = {node.outputs[0]};
  p.in = {Access::dense(x.dtype, shape, x.constant.has_value())};
  for (size_t i = 1; i < 3; ++i)
    p.in.push_back(broadcast_access(Access::dense(graph.value(node.inputs[i]).dtype, parameter, graph.is_constant(node.inputs[i])), shape));
  p.out = {Access::dense(x.dtype, shape)};
  p.params = Json{{"axis", 2}, {"epsilon", number_json(node.attr_float("epsilon", 1e-5))}, {"scale", true}, {"shift", true}};
  return l;
}

}  // namespace amdahl
