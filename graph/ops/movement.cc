#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> movement_ops() { return {}; }

}  // namespace amdahl
