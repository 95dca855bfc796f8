// A result that will not be read while it is in a cache is stored past them: an ordinary store first reads the line.
#include <fmt/format.h>

#include <algorithm>

#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {
namespace {

// Smaller results are read from a cache soon: of 13 windows with 0.8 to 1.6 MB and 8 with less, on Zen 3 (512 KiB a core), none won. A
// result of the model is read by whoever called it, which no race sees: half of the last-level cache holds it until then, unless the step was
// seen to run no faster than memory. (layernorm of 4096 x 768, 12 MiB beside 32 of cache: 0.40 ms again and again on Zen 4, for 38 MB at most 57
// of which memory feeds a millisecond; streamed it was 28% slower there, and 18% faster where operands come from memory. On Zen 3 0.82 ms, as
// long as memory takes; streamed 1.45x.)
std::string stays_in_a_cache(const RewriteContext& context, const Step& step) {
  const Operand& stored = step.outputs.at(0);
  const Access& result = step.variant.problem.out.at(0);
  const int64_t bytes = numel(result.shape) * static_cast<int64_t>(size_of(result.dtype)), near = 4 * context.target.device.l2_bytes;
  const bool held_far = context.is_graph_output(stored) && !context.out_of_cache.count(stored);
  const int64_t held = held_far ? std::max(near, context.target.device.l3_bytes / 2) : near;
  return bytes > held ? "" : fmt::format("the result of {} KiB stays in a cache", bytes >> 10);
}

}  // namespace

const Rewrite* use_streaming_stores() {
  static const KnobRewrite rewrite({
      .tier = 2,
      .name = "use_streaming_stores",
      .target = "pointwise, movement, softmax, layernorm, rmsnorm",
      .precondition = "the result is written along memory and larger than four second-level caches; one of the model, than half of the last-level cache, or "
                      "moved no faster than memory",
      .kinds = {kind::kPointwise, kind::kMovement, kind::kSoftmax, kind::kLayerNorm, kind::kRmsNorm},
      .set = {{"STREAM", 1}},
      .refuse = stays_in_a_cache,
  });
  return &rewrite;
}

}  // namespace amdahl
