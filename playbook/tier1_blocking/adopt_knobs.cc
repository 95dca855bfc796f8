// What a search has found for one kernel is the best first guess for its neighbours: a network has a handful of shapes of
// each kind, and what their good forms differ in is little. Takes over knobs, flags and compiler of the step that is most
// like this one and no longer stands as it started.

#include <algorithm>
#include <cmath>

#include "playbook/playbook.h"

namespace amdahl {
namespace {

// How unlike two problems of one kind are: factors between their operations and their bytes, and other attributes.
double distance(const Problem& a, const Problem& b) {
  const KernelKind& kind = kernel_kind(a.kind);
  const Work wa = kind.work(a), wb = kind.work(b);
  Json pa = a.params, pb = b.params;
  for (Json* p : {&pa, &pb}) p->erase("epilogue");
  return std::abs(std::log((wa.flops + 1) / (wb.flops + 1))) + std::abs(std::log((wa.bytes + 1) / (wb.bytes + 1))) + (pa != pb);
}

// The donor's values where this problem allows them, else the nearest below; knobs that the donor lacks stay.
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

class AdoptKnobs final : public Rewrite {
 public:
  int tier() const override { return 1; }
  std::string_view name() const override { return "adopt_knobs"; }
  std::string_view target() const override { return "every kind with knobs"; }
  std::string_view precondition() const override { return "another step of the kind has been tuned already"; }
  double prior() const override { return 0.5; }

  std::optional<Match> match(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    const Problem& problem = step.variant.problem;
    if (!step.variant.source_override.empty()) return refuse(refusal, "the kernel's text was edited: knobs no longer make it");
    const SearchSpace space = kernel_kind(problem.kind).space(problem, context.machine);
    std::optional<Variant> best;
    double nearest = INFINITY;
    const auto tuned = context.tuned.find(problem.kind);
    if (tuned == context.tuned.end()) return refuse(refusal, "no step of this kind has been tuned");
    for (int number : tuned->second) {
      const Step& donor = context.plan.steps[static_cast<size_t>(number)];
      // Forms of a matrix product have other knobs.
      if (problem.kind == "matmul" && problem.params.value("declared", "") != donor.variant.problem.params.value("declared", "")) continue;
      const double d = distance(problem, donor.variant.problem);
      if (d >= nearest) continue;
      Variant variant = step.variant;
      variant.knobs = adopted(space, step.variant.knobs, donor.variant.knobs);
      variant.flags = donor.variant.flags;
      variant.compiler = donor.variant.compiler;
      if (variant.id() == step.variant.id() || (space.refuse && !space.refuse(variant.knobs).empty())) continue;
      nearest = d;
      best = std::move(variant);
    }
    if (!best) return refuse(refusal, "has what was found for others of its kind");
    Match match;
    match.window.steps = {anchor};
    match.replacement = {step};
    match.replacement[0].variant = std::move(*best);
    return match;
  }

 private:
  static std::nullopt_t refuse(std::string* refusal, std::string_view reason) {
    if (refusal) *refusal = reason;
    return std::nullopt;
  }
};

}  // namespace

const Rewrite* adopt_knobs() {
  static const AdoptKnobs rewrite;
  return &rewrite;
}

}  // namespace amdahl
