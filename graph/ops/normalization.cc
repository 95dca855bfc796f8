#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> normalization_ops() { return {}; }

}  // namespace amdahl
