#include "cli/precision_option.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/model_options.h"

namespace amdahl {

void declare_allow(Options& options) {
  options.named.add_options()("allow", po::value<std::string>()->value_name("TYPE"),
                              "precision that may be given up: bf16 (products of numbers rounded to bfloat16)");
}

bool read_allow_bf16(const po::variables_map& values) {
  const std::optional<std::string> type = read_text(values, "allow");
  if (type && *type != "bf16") throw Error(ExitCode::kUsage, fmt::format("--allow {}: what can be allowed is bf16", *type));
  return type.has_value();
}

}  // namespace amdahl
