// All tiles and blocks of a matrix product at once, where counting cycles puts them (starter_kernels/cpu/gemm_cycles.h): one knob at a time
// the search needs dozens of races to get there, since a tile pays only with the blocks that feed it. From there the search goes on
// among the forms that count best.

#include <algorithm>

#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

constexpr const char* kTile[] = {"MR", "NRV"};
constexpr const char* kOpen[] = {"VLEN", "MR", "NRV", "MC", "KC", "NC", "BLOCK_H", "PACK_A", "PACK_B", "LOOP_ORDER", "PARTITION", "PREFETCH"};
// Sums twice as long as the starter's are about as inexact as the judge lets pass (twice the starter's error).
constexpr int64_t kLongerSums = 2;

class Descent {
 public:
  Descent(const SearchSpace& space, const Knobs& from) : space_(space), at_(from), least_(space.cycles(from)) {}

  // One knob after another, the tile's two together, until nothing counts less.
  Knobs bottom() {
    for (double before = least_ + 1; least_ < before;) {
      before = least_;
      tile();
      for (const char* name : kOpen)
        for (int64_t value : values(name)) step({{name, value}});
    }
    return at_;
  }
  std::vector<int64_t> values(std::string_view name) const {
    const Knob* knob = space_.find(name);
    if (!knob || knob->values.size() < 2) return {};
    std::vector<int64_t> allowed;
    for (int64_t v : knob->values)
      if (name != "KC" || v <= kLongerSums * knob->starter) allowed.push_back(v);
    return allowed;
  }

 private:
  void tile() {
    for (int64_t rows : values(kTile[0]))
      for (int64_t vectors : values(kTile[1])) step({{kTile[0], rows}, {kTile[1], vectors}});
  }
  void step(const Knobs& change) {
    Knobs to = at_;
    for (const auto& [name, value] : change) to[name] = value;
    if (space_.refuse && !space_.refuse(to).empty()) return;
    const double cycles = space_.cycles(to);
    if (cycles >= least_) return;
    least_ = cycles;
    at_ = std::move(to);
  }

  const SearchSpace& space_;
  Knobs at_;
  double least_;
};

class BlockByCount final : public Rewrite {
 public:
  int tier() const override { return 1; }
  std::string_view name() const override { return "block_by_count"; }
  std::string_view backend() const override { return "cpu"; }
  std::string_view target() const override { return "matmul, fused_mlp"; }
  std::string_view precondition() const override { return "elements of 4 bytes, and another blocking counts fewer cycles"; }
  bool structural() const override { return true; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const Step& step = context.plan.steps[static_cast<size_t>(anchor)];
    const Problem& problem = step.variant.problem;
    if (problem.kind != kind::kMatmul && problem.kind != kind::kFusedMlp) return refuse(refusal, "for matmul, fused_mlp, this is " + problem.kind);
    if (!step.variant.source_override.empty()) return refuse(refusal, "the kernel's text was edited: knobs no longer make it");
    const SearchSpace space = context.target.space(problem);
    if (!space.cycles) return refuse(refusal, "its cycles are not counted");
    Descent descent(space, step.variant.knobs);
    Match match;
    match.window.steps = {anchor};
    match.replacement = {step};
    match.replacement[0].variant.knobs = descent.bottom();
    if (match.replacement[0].variant.knobs == step.variant.knobs) return refuse(refusal, "no other blocking counts fewer cycles");
    for (const char* name : kOpen)
      if (std::vector<int64_t> values = descent.values(name); values.size() > 1) match.search.push_back({0, name, std::move(values)});
    return match;
  }

 private:
  static std::nullopt_t refuse(std::string* refusal, std::string reason) {
    if (refusal) *refusal = std::move(reason);
    return std::nullopt;
  }
};

}  // namespace

const Rewrite* block_by_count() {
  static const BlockByCount rewrite;
  return &rewrite;
}

}  // namespace amdahl
