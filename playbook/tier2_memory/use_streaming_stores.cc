// A result that will not be read while it is in a cache is stored past them: an ordinary store first reads the line.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* use_streaming_stores() {
  static const KnobRewrite rewrite({
      .tier = 2,
      .name = "use_streaming_stores",
      .target = "pointwise, movement, softmax, layernorm, rmsnorm",
      .precondition = "the result is written along memory",
      .kinds = {"pointwise", "movement", "softmax", "layernorm", "rmsnorm"},
      .set = {{"STREAM", 1}},
  });
  return &rewrite;
}

}  // namespace amdahl
