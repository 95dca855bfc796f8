#include "base/embedded.h"

#include <fmt/format.h>

#include "base/error.h"

namespace amdahl {

std::string_view find_text(const std::vector<EmbeddedText>& texts, std::string_view name) {
  for (const EmbeddedText& row : texts)
    if (row.name == name) return row.text;
  throw Error(ExitCode::kInternal, fmt::format("no embedded text '{}'", name));
}

}  // namespace amdahl
