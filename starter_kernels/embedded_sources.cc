#include "starter_kernels/embedded_sources.h"

#include <fmt/format.h>

#include "base/error.h"

namespace amdahl {

std::string_view embedded_source(std::string_view name) {
  for (const EmbeddedSource& row : embedded_sources())
    if (row.name == name) return row.text;
  throw Error(ExitCode::kInternal, fmt::format("no embedded source '{}'", name));
}

}  // namespace amdahl
