// Maximum and sum of exponentials together (Milakov & Gimelshein 2018): one walk over the row less, some exponentials more.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"
#include "starter_kernels/kinds/kind_names.h"

namespace amdahl {

const Rewrite* fold_rows_in_one_pass() {
  static const KnobRewrite rewrite({
      .tier = 6,
      .name = "fold_rows_in_one_pass",
      .target = "softmax",
      .precondition = "softmax along memory",
      .kinds = {kind::kSoftmax},
      .open = {"ONLINE"},
  });
  return &rewrite;
}

}  // namespace amdahl
