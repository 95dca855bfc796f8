#include "playbook/tuned_donor.h"

#include <algorithm>
#include <cmath>

namespace amdahl {
namespace {

// How unlike two problems of one kind are: factors between their operations and their bytes, and other attributes.
double distance(const Problem& a, const Problem& b) {
  const KernelKind& kind = kernel_kind(a.kind);
  const Work wa = kind.work(a), wb = kind.work(b);
  Problem raw_a = a, raw_b = b;
  for (Problem* p : {&raw_a, &raw_b}) set_epilogue(*p, std::nullopt);
  return std::abs(std::log((wa.flops + 1) / (wb.flops + 1))) + std::abs(std::log((wa.bytes + 1) / (wb.bytes + 1))) + (raw_a.params != raw_b.params);
}

// Whether one text is made with both: tiles of a convolution's direct form and of Winograd's are knobs of one name, and what is good for one is not for the
// other. (resnet50 on AVX2: Winograd's tile of 2 x 4 was once given to all convolutions of 1x1 after it, whose starters had 6 x 2.)
bool same_algorithm(const Knobs& a, const Knobs& b) {
  const auto in_a = a.find("ALGORITHM"), in_b = b.find("ALGORITHM");
  return in_a == a.end() || in_b == b.end() || in_a->second == in_b->second;
}

}  // namespace

Knobs adopted(const SearchSpace& space, const Knobs& own, const Knobs& donor) {
  Knobs knobs = own;
  for (const Knob& knob : space.knobs) {
    const auto it = donor.find(knob.name);
    if (it == donor.end() || knob.values.empty()) continue;
    const auto above = std::upper_bound(knob.values.begin(), knob.values.end(), it->second);
    knobs[knob.name] = above == knob.values.begin() ? *above : *std::prev(above);
  }
  return knobs;
}

std::optional<Variant> as_nearest_tuned(const RewriteContext& context, const Variant& own) {
  const Problem& problem = own.problem;
  const auto tuned = context.tuned.find(problem.kind);
  if (tuned == context.tuned.end()) return std::nullopt;
  const SearchSpace space = context.target.space(problem);
  std::optional<Variant> best;
  double nearest = INFINITY;
  for (int number : tuned->second) {
    const Variant& donor = context.plan.steps[static_cast<size_t>(number)].variant;
    // Forms of a matrix product have other knobs.
    if (strassen_levels(problem) != strassen_levels(donor.problem) || multiplies_in_bf16(problem) != multiplies_in_bf16(donor.problem)) continue;
    const double d = distance(problem, donor.problem);
    if (d >= nearest) continue;
    Variant variant = own;
    variant.knobs = adopted(space, own.knobs, donor.knobs);
    variant.flags = donor.flags;
    variant.compiler = donor.compiler;
    if (!same_algorithm(variant.knobs, donor.knobs)) continue;
    if (variant.id() == own.id() || (space.refuse && !space.refuse(variant.knobs).empty())) continue;
    nearest = d;
    best = std::move(variant);
  }
  return best;
}

void begin_as_tuned(const RewriteContext& context, Match& match) {
  std::vector<Step> as_started = match.replacement;
  bool changed = false;
  for (Step& step : match.replacement) {
    const Variant& variant = step.variant;
    if (variant.knobs.empty() || !variant.source_override.empty() || variant.knobs != context.target.space(variant.problem).starters()) continue;
    std::optional<Variant> tuned = as_nearest_tuned(context, variant);
    if (!tuned) continue;
    step.variant = std::move(*tuned);
    changed = true;
  }
  if (changed) match.others.push_back(std::move(as_started));
}

}  // namespace amdahl
