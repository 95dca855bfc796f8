#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> reduction_ops() { return {}; }

}  // namespace amdahl
