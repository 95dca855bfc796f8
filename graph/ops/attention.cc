#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> attention_ops() { return {}; }

}  // namespace amdahl
