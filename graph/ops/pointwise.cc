#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> pointwise_ops() { return {}; }

}  // namespace amdahl
