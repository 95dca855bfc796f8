// A result that will not be read while it is in a cache is stored past them: an ordinary store first reads the line.
#include <fmt/format.h>

#include <algorithm>

#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {
namespace {

// Smaller results are read from a cache soon: of 13 windows with 0.8 to 1.6 MB and 8 with less, on Zen 3 (512 KiB a core), none won. A
// result of the model is read by whoever called it, which no race sees: half of the last-level cache holds it until then. (layernorm of
// 4096 x 768, 12 MiB, on Zen 4 with 32 MiB: streamed 18% faster where operands come from memory, run again and again 28% slower.)
std::string stays_in_a_cache(const RewriteContext& context, const Step& step) {
  const Access& result = step.variant.problem.out.at(0);
  const int64_t bytes = numel(result.shape) * static_cast<int64_t>(size_of(result.dtype)), near = 4 * context.machine.l2_bytes;
  const int64_t held = context.is_graph_output(step.outputs.at(0)) ? std::max(near, context.machine.l3_bytes / 2) : near;
  return bytes > held ? "" : fmt::format("the result of {} KiB stays in a cache", bytes >> 10);
}

}  // namespace

const Rewrite* use_streaming_stores() {
  static const KnobRewrite rewrite({
      .tier = 2,
      .name = "use_streaming_stores",
      .target = "pointwise, movement, softmax, layernorm, rmsnorm",
      .precondition = "the result is written along memory and larger than four second-level caches; one of the model, than half of the last-level cache",
      .kinds = {"pointwise", "movement", "softmax", "layernorm", "rmsnorm"},
      .set = {{"STREAM", 1}},
      .refuse = stays_in_a_cache,
  });
  return &rewrite;
}

}  // namespace amdahl
