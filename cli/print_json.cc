#include "cli/print_json.h"

#include <fmt/format.h>

namespace amdahl {

void print_json(const nlohmann::json& document) { fmt::print("{}\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace)); }

}  // namespace amdahl
