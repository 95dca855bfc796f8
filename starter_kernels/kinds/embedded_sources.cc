#include "starter_kernels/kinds/embedded_sources.h"

namespace amdahl {

std::string_view embedded_source(std::string_view name) { return find_text(embedded_sources(), name); }

}  // namespace amdahl
