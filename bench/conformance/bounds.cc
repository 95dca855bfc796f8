#include "bench/conformance/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bench/conformance/opinions.h"

namespace amdahl::conformance {
namespace {

using Random = std::mt19937_64;

// Some elements get a bound.
void loosen(RefTensor& x, Random& random) {
  x.bound.assign(static_cast<size_t>(x.numel()), 0.0);
  for (size_t i = 0; i < x.bound.size(); ++i)
    if (random() % 3 == 0) x.bound[i] = !x.is_float() ? 1 : std::isfinite(x.value[i]) ? std::fabs(x.value[i]) * 0x1p-8 : 0;
}

// Integers become one less, where they are above zero and not the tensor's least: an index remains one.
RefTensor moved(RefTensor x, Random& random) {
  const int64_t least = x.ints.empty() ? 0 : std::max<int64_t>(0, std::ranges::min(x.ints));
  for (size_t i = 0; i < x.bound.size(); ++i) {
    const int where = static_cast<int>(random() % 3) - 1;
    if (x.bound[i] == 0 || where == 0) continue;
    if (x.is_float()) x.value[i] += where * x.bound[i];
    else if (x.ints[i] > least) --x.ints[i];
  }
  x.bound.clear();
  return x;
}

std::string first_beyond(const RefTensor& held, const RefTensor& other) {
  constexpr double kOwnRounding = 1 + 0x1p-40;  // bounds are computed in float64 themselves
  for (int64_t i = 0; i < held.numel(); ++i) {
    const auto at = static_cast<size_t>(i);
    const double bound = held.bound_at(i), a = held.is_float() ? held.value[at] : static_cast<double>(held.ints[at]);
    const double b = held.is_float() ? other.value[at] : static_cast<double>(other.ints[at]);
    // NaN: a function left its domain, which honest inputs do not (graph/ops/elementwise.h).
    const bool within = std::isinf(bound) || a == b || std::isnan(b) || std::fabs(a - b) <= bound * kOwnRounding;
    if (!within) return fmt::format("element {} is {} +- {:.2g}, and may be {}", i, a, bound, b);
  }
  return "";
}

// Of these the bounds are no worst case: errors of steps are taken to have signs of their own (graph/ops/carried_error.h).
bool is_recurrence(const Node& node) { return node.op == "LSTM" || node.op == "GRU" || node.op == "RNN"; }

}  // namespace

std::string element_beyond_its_bound(const StatedCase& c) {
  constexpr int kTries = 4;
  const LoadedCase loaded = load(c, false);
  if (std::ranges::any_of(loaded.graph.nodes, is_recurrence)) return "";
  Random random(std::hash<std::string>()(c.name));
  std::vector<RefTensor> inputs;
  for (const Tensor& t : loaded.inputs) loosen(inputs.emplace_back(RefTensor::of(t)), random);
  const std::vector<RefTensor> held = interpret(loaded.graph, inputs);
  for (int t = 0; t < kTries; ++t) {
    std::vector<RefTensor> others;
    for (const RefTensor& x : inputs) others.push_back(moved(x, random));
    const std::vector<RefTensor> got = interpret(loaded.graph, others);
    for (size_t o = 0; o < held.size(); ++o)
      if (const std::string wrong = first_beyond(held[o], got[o]); !wrong.empty()) return fmt::format("output {}: {}", o, wrong);
  }
  return "";
}

}  // namespace amdahl::conformance
