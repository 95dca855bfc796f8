// 512-bit vectors double the arithmetic of exponentials; 256-bit ones have shorter tails and split fewer cache lines.
#include "playbook/knob_rewrite.h"
#include "playbook/playbook.h"

namespace amdahl {

const Rewrite* choose_vector_bits() {
  static const KnobRewrite rewrite({
      .tier = 5,
      .name = "choose_vector_bits",
      .target = "row kinds, pointwise",
      .precondition = "the machine has AVX-512",
      .backend = "cpu",
      .open = {"VECTOR_BITS"},
  });
  return &rewrite;
}

}  // namespace amdahl
