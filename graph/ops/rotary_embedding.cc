#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> rotary_ops() { return {}; }

}  // namespace amdahl
