// The pointwise family: one value out of one value of every input, with broadcasting. The rows live in the files named here.

#include "graph/ops/elementwise.h"
#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> pointwise_ops() {
  std::vector<OpDef> all;
  for (auto part : {arithmetic_ops, unary_math_ops, activation_ops, logic_ops, cast_ops}) {
    const std::vector<OpDef> rows = part();
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace amdahl
