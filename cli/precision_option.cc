#include "cli/precision_option.h"

#include <fmt/format.h>

#include "base/error.h"

namespace amdahl {

void declare_allow(Options& options) {
  options.named.add_options()("allow", po::value<std::string>()->value_name("TYPE"),
                              "precision that may be given up: bf16 (products of numbers rounded to bfloat16)");
}

bool allows_bf16(const po::variables_map& values) {
  if (!values.count("allow")) return false;
  const std::string type = values["allow"].as<std::string>();
  if (type != "bf16") throw Error(ExitCode::kUsage, fmt::format("--allow {}: what can be allowed is bf16", type));
  return true;
}

}  // namespace amdahl
