// A convolution over a neighbourhood and those before and after it share their work alike, all by pixels or all by channels: what a core reads is
// what it has written, and writes what it will read. A cache line comes from the other core's L2 in 40 ns, or 170 where the cores have no L3 in common:
// a depthwise convolution of 384 channels of 14 x 14 takes 9 us between two that share pixels as it does, and 13 to 18 otherwise. A race of one step
// cannot tell.
#include <algorithm>

#include "playbook/playbook.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

class AlignThreadPartitions final : public Rewrite {
 public:
  int tier() const override { return 4; }
  std::string_view name() const override { return "align_thread_partitions"; }
  std::string_view backend() const override { return "cpu"; }
  std::string_view target() const override { return "conv of more than one tap with a conv before or after it"; }
  std::string_view precondition() const override { return "channel blocks, more than one thread, nobody else reads what passes between"; }

  std::optional<Match> offer(const RewriteContext& context, int anchor, std::string* refusal) const override {
    const auto refused = [&](std::string_view reason) {
      if (refusal) *refusal = reason;
      return std::nullopt;
    };
    if (context.plan.threads < 2) return refused("the plan runs on one thread");
    if (!is_shared(context, anchor)) return refused("not a convolution on channel blocks whose threads have a choice");
    if (is_pointwise(context.plan.steps[static_cast<size_t>(anchor)])) return refused("a 1x1 convolution: taken along by the one beside it");
    Match match;
    const auto writer = context.writer.find(context.plan.steps[static_cast<size_t>(anchor)].inputs[0]);
    if (writer != context.writer.end() && passes(context, writer->second, anchor)) match.window.steps.push_back(writer->second);
    match.window.steps.push_back(anchor);
    if (const int after = context.sole_consumer(anchor); after >= 0 && passes(context, anchor, after)) match.window.steps.push_back(after);
    if (match.window.steps.size() < 2) return refused("no such convolution before or after it");
    for (int s : match.window.steps) match.replacement.push_back(context.plan.steps[static_cast<size_t>(s)]);
    const auto partition_of = [&](const Step& s) { return *context.target.space(s.variant.problem).find("PARTITION"); };
    const bool all_by_pixels = std::all_of(match.replacement.begin(), match.replacement.end(), [&](const Step& s) {
      const auto partition = s.variant.knobs.find("PARTITION");
      return partition != s.variant.knobs.end() && partition->second == by_pixels(partition_of(s));  // none: a depthwise step from before it had the knob
    });
    for (size_t i = 0; i < match.replacement.size(); ++i) {
      const Knob partition = partition_of(match.replacement[i]);
      match.replacement[i].variant.knobs["PARTITION"] = all_by_pixels ? kByChannels : by_pixels(partition);
      match.search.push_back({static_cast<int>(i), "PARTITION", partition.values});
    }
    return match;
  }

 private:
  // The value of the knob: 0 by pixels and 1 by channels, and of a product in halves 1 along N, the channels, and 2 along M.
  static constexpr int64_t kByChannels = 1;
  static int64_t by_pixels(const Knob& partition) { return std::count(partition.values.begin(), partition.values.end(), 0) ? 0 : 2; }

  static bool is_pointwise(const Step& step) {
    const Shape& taps = step.variant.problem.in[1].shape;
    return std::all_of(taps.begin() + 2, taps.end(), [](int64_t extent) { return extent == 1; });
  }

  static bool is_shared(const RewriteContext& context, int s) {
    const Step& step = context.plan.steps[static_cast<size_t>(s)];
    const Problem& problem = step.variant.problem;
    return problem.kind == kind::kConv && step.variant.source_override.empty() && !format_of_output(problem, 0).empty() &&
           context.target.space(problem).find("PARTITION");
  }

  // Whether `reader`'s x is all that becomes of what `from` writes.
  static bool passes(const RewriteContext& context, int from, int reader) {
    return is_shared(context, from) && is_shared(context, reader) && context.sole_consumer(from) == reader &&
           context.plan.steps[static_cast<size_t>(reader)].inputs[0] == context.plan.steps[static_cast<size_t>(from)].outputs[0];
  }
};

}  // namespace

const Rewrite* align_thread_partitions() {
  static const AlignThreadPartitions rewrite;
  return &rewrite;
}

}  // namespace amdahl
