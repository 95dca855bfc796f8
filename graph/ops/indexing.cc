#include "graph/ops/families.h"

namespace amdahl {

std::vector<OpDef> indexing_ops() { return {}; }

}  // namespace amdahl
