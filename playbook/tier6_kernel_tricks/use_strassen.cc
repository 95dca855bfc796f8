// Seven products of halves instead of eight, or 49 of quarters instead of 64: where tiles run near the peak of the FMA units already, the one
// way to take less time is to multiply less. Rounds more than a sum, by what the oracle derives for it; declared, so that the judge applies that
// to this step alone.
#include "playbook/playbook.h"
#include "starter_kernels/cpu/matmul_bf16.h"
#include "starter_kernels/cpu/matmul_strassen.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

// On products in bfloat16 a rewrite of its own: it costs accuracy that the user must have allowed, and the loop asks the model how much.
class UseStrassen final : public Rewrite {
 public:
  UseStrassen(int levels, bool bf16) : levels_(levels), bf16_(bf16) {}
  int tier() const override { return 6; }
  std::string_view name() const override {
    if (bf16_) return levels_ == 1 ? "use_strassen_in_bf16" : "use_strassen_twice_in_bf16";
    return levels_ == 1 ? "use_strassen" : "use_strassen_twice";
  }
  std::string_view backend() const override { return "cpu"; }
  std::string_view target() const override { return bf16_ ? "matmul" : "matmul, conv"; }
  std::string_view precondition() const override {
    if (bf16_) return levels_ == 1 ? "a product in bf16, no AMX; else as use_strassen" : "as use_strassen_in_bf16, or after it; else as use_strassen_twice";
    return levels_ == 1 ? "fp32, B is one constant matrix, 32 rows, 128 columns and steps, a conv 1x1 on whole channel blocks; declares its error bound"
                        : "as use_strassen, or after it: 64 rows, 256 columns and steps; declares its error bound";
  }
  std::string_view wants_allowed() const override { return bf16_ ? "bf16" : ""; }
  bool costs_accuracy() const override { return bf16_; }
  // 8 and 14% of a product's time where it was measured first (Zen 4, 128 rows).
  Odds odds(std::string_view backend) const override { return bf16_ ? Odds{0.5, levels_ == 1 ? 0.08 : 0.14} : Rewrite::odds(backend); }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refuse = [&](std::string reason) {
      if (refusal) *refusal = std::move(reason);
      return std::nullopt;
    };
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    const Problem& problem = step.variant.problem;
    if (problem.kind != kind::kMatmul && problem.kind != kind::kConv) return refuse("neither a matmul nor a convolution");
    if (!step.variant.source_override.empty()) return refuse("the kernel's text was edited");
    if (multiplies_in_bf16(problem) != bf16_) return refuse(bf16_ ? "not in bfloat16" : "in bfloat16");
    if (strassen_levels(problem) >= levels_) return refuse("is halved already");
    if (bf16_ && multiplies_on_tiles(context.target.device)) return refuse("tiles multiply faster than their sums are made");
    if (std::string why = refused_in_halves(problem, levels_, context.target.device); !why.empty()) return refuse(std::move(why));

    Match match;
    match.window.steps = {anchor};
    match.replacement = {step};
    Variant& variant = match.replacement[0].variant;
    declare_algorithm(variant.problem, std::string(bf16_ ? "bf16_" : "") + (levels_ == 1 ? "strassen" : "strassen2"));
    const SearchSpace space = context.target.space(variant.problem);
    variant.knobs = space.starters();
    for (const Knob& knob : space.knobs)
      if (knob.values.size() > 1) match.search.push_back({0, knob.name, knob.values});
    return match;
  }

 private:
  int levels_;
  bool bf16_;
};

}  // namespace

const Rewrite* use_strassen() {
  static const UseStrassen rewrite(1, false);
  return &rewrite;
}

const Rewrite* use_strassen_twice() {
  static const UseStrassen rewrite(2, false);
  return &rewrite;
}

const Rewrite* use_strassen_in_bf16() {
  static const UseStrassen rewrite(1, true);
  return &rewrite;
}

const Rewrite* use_strassen_twice_in_bf16() {
  static const UseStrassen rewrite(2, true);
  return &rewrite;
}

}  // namespace amdahl
