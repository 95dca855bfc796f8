// A result that will not be read while it is in a cache is stored past them: an ordinary store first reads the line.
#include <fmt/format.h>

#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {
namespace {

// Smaller results are read from a cache soon: of 13 windows with 0.8 to 1.6 MB and 8 with less, on Zen 3 (512 KiB a core), none won.
std::string stays_in_a_cache(const RewriteContext& context, const Step& step) {
  const Access& result = step.variant.problem.out.at(0);
  const int64_t bytes = numel(result.shape) * static_cast<int64_t>(size_of(result.dtype));
  return bytes > 4 * context.machine.l2_bytes ? "" : fmt::format("the result of {} KiB stays in a cache", bytes >> 10);
}

}  // namespace

const Rewrite* use_streaming_stores() {
  static const KnobRewrite rewrite({
      .tier = 2,
      .name = "use_streaming_stores",
      .target = "pointwise, movement, softmax, layernorm, rmsnorm",
      .precondition = "the result is written along memory and four times as large as a core's second-level cache",
      .kinds = {"pointwise", "movement", "softmax", "layernorm", "rmsnorm"},
      .set = {{"STREAM", 1}},
      .refuse = stays_in_a_cache,
  });
  return &rewrite;
}

}  // namespace amdahl
