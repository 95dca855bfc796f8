#include "profiler/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/statistics.h"

namespace amdahl {
namespace {

double relative_spread(std::vector<double> values) {
  const double middle = median(values);
  for (double& v : values) v = std::abs(v - middle);
  return middle > 0 ? 1.4826 * median(std::move(values)) / middle : 0;
}

// Bytes behind an operand: a broadcast dimension (stride 0) holds one element.
double stored_bytes(const Access& access) {
  double bytes = static_cast<double>(size_of(access.dtype));
  for (size_t i = 0; i < access.shape.size(); ++i)
    if (access.strides[i] != 0) bytes *= static_cast<double>(access.shape[i]);
  return bytes;
}

// Rounded because a form declares it, or in half precision on a device that multiplies such as they are.
Factors factors_of(const Problem& problem, const Ceilings& ceilings) {
  if (multiplies_in_bf16(problem)) return Factors::kHalves;
  if (problem.in.empty() || traits_of(problem).family != Traits::Family::kProducts) return Factors::kFloats;
  if (size_of(problem.in[0].dtype) == 1) return Factors::kBytes;
  return ceilings.multiplies_halves() && is_half(problem.in[0].dtype) ? Factors::kHalves : Factors::kFloats;
}

StepCost cost_of(const Problem& problem) {
  const Work work = kernel_kind(problem.kind).work(problem);
  double weights = 0;
  for (const Access& in : problem.in)
    if (in.constant) weights += stored_bytes(in);
  // A gather reads few rows of its table: never more weights than the kind says must move.
  weights = std::min(weights, work.bytes);
  return {work.flops, weights, work.bytes - weights};
}

std::string short_shape(const Shape& shape) {
  if (shape.empty()) return "1";
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i ? "x" : "", shape[i]);
  return text;
}

// Operators covered (each once, in order) and the shapes: inputs of more than one element that are not mere vectors,
// else the output.
std::string describe(const Graph& graph, const Step& step) {
  std::string operators;
  std::set<std::string> seen;
  for (NodeId n : step.nodes) {
    if (!seen.insert(graph.node(n).op).second) continue;
    if (!operators.empty()) operators += '+';
    operators += graph.node(n).op;
  }
  if (operators.empty()) operators = "convert";
  std::string shapes;
  const Problem& problem = step.variant.problem;
  if (traits_of(problem).is_product) {
    for (size_t i = 0; i < 2 && i < problem.in.size(); ++i) shapes += (i ? " · " : "") + short_shape(problem.in[i].shape);
  } else if (!problem.out.empty()) {
    shapes = short_shape(problem.out[0].shape);
  }
  return operators + " " + shapes;
}

Bound bound_of(MemoryLevel level) { return static_cast<Bound>(static_cast<int>(Bound::kL1) + static_cast<int>(level)); }

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::string_view names[] = {"compute", "L1", "L2", "L3", "DRAM", "call"};
  return names[static_cast<int>(bound)];
}

double bytes_of_run(const Graph& graph, const Plan& plan) {
  std::set<ValueId> seen;
  double bytes = 0, activations = 0;
  for (const Step& step : plan.steps) {
    for (size_t i = 0; i < step.inputs.size() && i < step.variant.problem.in.size(); ++i)
      if (step.variant.problem.in[i].constant && graph.is_constant(step.inputs[i].value) && seen.insert(step.inputs[i].value).second)
        bytes += stored_bytes(step.variant.problem.in[i]);
    activations = std::max(activations, cost_of(step.variant.problem).activation_bytes);
  }
  return bytes + activations;
}

Floor floor_of(const StepCost& cost, double run_bytes, int threads, const Ceilings& ceilings) {
  const auto seconds_at = [&](double bytes, MemoryLevel level) {
    const double rate = ceilings.bandwidth_gbs(level, threads) * 1e9;
    return bytes > 0 && rate > 0 ? bytes / rate : 0;
  };
  const double peak = ceilings.peak_gflops(threads, cost.factors) * 1e9;
  const double compute = peak > 0 ? cost.flops / peak : 0;
  const MemoryLevel weights_from = ceilings.level_of(run_bytes, threads);
  const MemoryLevel activations_from = ceilings.level_of(cost.weight_bytes + cost.activation_bytes, threads);
  const double weights = seconds_at(cost.weight_bytes, weights_from);
  const double activations = seconds_at(cost.activation_bytes, activations_from);
  if (ceilings.call_seconds > std::max(compute, weights + activations)) return {ceilings.call_seconds, Bound::kCall};
  if (compute >= weights + activations) return {compute, Bound::kCompute};
  return {weights + activations, bound_of(weights > activations ? weights_from : activations_from)};
}

double Profile::flops() const {
  double sum = 0;
  for (const StepProfile& step : steps) sum += step.cost.flops;
  return sum;
}

void slow_floors(Profile& profile, double speed) {
  for (const StepProfile& s : profile.steps)
    if (s.floor.bound == Bound::kCompute && s.seconds > 0.01 * profile.seconds) speed = std::max(speed, s.floor.seconds / s.seconds);
  speed = std::clamp(speed, 0.1, 1.0);
  for (StepProfile& s : profile.steps) s.floor.seconds /= speed;
  rank(profile);
}

void rank(Profile& profile) {
  profile.ranking.clear();
  profile.floor_seconds = 0;
  double in_steps = 0;
  std::map<std::string, size_t> group_of;
  for (const StepProfile& step : profile.steps) {
    const auto [it, fresh] = group_of.emplace(step.signature, profile.ranking.size());
    if (fresh) profile.ranking.emplace_back();
    GroupProfile& group = profile.ranking[it->second];
    group.steps.push_back(step.step);
    group.seconds += step.seconds;
    group.floor_seconds += step.floor.seconds;
    profile.floor_seconds += step.floor.seconds;
    in_steps += step.seconds;
  }
  for (GroupProfile& group : profile.ranking) {
    group.share = in_steps > 0 ? group.seconds / in_steps : 0;
    group.winnable_seconds = std::max(0.0, group.seconds - group.floor_seconds);
    const double rest = profile.seconds - group.winnable_seconds;
    group.speedup_if_won = rest > 0 ? profile.seconds / rest : 1;
  }
  std::stable_sort(profile.ranking.begin(), profile.ranking.end(),
                   [](const GroupProfile& a, const GroupProfile& b) { return a.winnable_seconds > b.winnable_seconds; });
}

Profile make_profile(const Graph& graph, const Plan& plan, const std::vector<std::vector<double>>& samples, const Ceilings& ceilings) {
  Profile profile;
  profile.threads = plan.threads;
  profile.runs = static_cast<int>(samples.size());
  std::vector<double> sums;
  for (const auto& run : samples) {
    double sum = 0;
    for (double s : run) sum += s;
    sums.push_back(sum);
  }
  profile.seconds = median(sums);
  profile.spread = relative_spread(sums);
  profile.memory_gbs = ceilings.bandwidth_gbs(MemoryLevel::kDram, plan.threads);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    StepProfile row;
    row.step = static_cast<int>(i);
    row.kind = step.variant.problem.kind;
    row.computes = describe(graph, step);
    row.nodes = step.nodes;
    row.signature = signature(graph, plan, Window{{row.step}});
    std::vector<double> times;
    for (const auto& run : samples) times.push_back(run.at(i));
    row.seconds = median(times);
    row.spread = relative_spread(times);
    row.cost = cost_of(step.variant.problem);
    row.cost.factors = factors_of(step.variant.problem, ceilings);
    profile.steps.push_back(std::move(row));
  }
  const double run_bytes = bytes_of_run(graph, plan);
  for (StepProfile& row : profile.steps) row.floor = floor_of(row.cost, run_bytes, plan.threads, ceilings);
  rank(profile);
  return profile;
}

}  // namespace amdahl
