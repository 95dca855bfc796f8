// How a CPU computes the plain kind (starter_kernels/kinds/plain.cc).

#include "starter_kernels/kinds/plain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/number_json.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/number_text.h"
#include "starter_kernels/text/one_word.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// Storage types as the text sees them. bf16 has no C type here: such operands are refused at lowering.
std::string operand_text(const std::string& name, const Access& access) {
  return fmt::format(
      "typedef {} {}_t;\nconstexpr int64_t {}_RANK = {};\nconstexpr int64_t {}_SHAPE[] = {{{}}};\n"
      "constexpr int64_t {}_SIZE = {};\n",
      c_type(access.dtype), name, name, access.shape.size(), name, access.shape.empty() ? "1" : fmt::format("{}", fmt::join(access.shape, ", ")), name,
      numel(access.shape));
}

std::string constant_text(const std::string& name, const Json& value) {
  if (value.is_number_integer()) return fmt::format("constexpr int64_t {} = {};\n", name, value.get<int64_t>());
  if (value.is_array()) {
    const auto v = value.get<std::vector<int64_t>>();
    return fmt::format("constexpr int64_t {}[] = {{{}}};\n", name, v.empty() ? "0" : fmt::format("{}", fmt::join(v, ", ")));
  }
  std::string list;
  for (const Json& number : value.at("float")) list += float_text(number_of(number)) + ", ";
  return fmt::format("constexpr float {}[] = {{{}}};\n", name, list.empty() ? "0" : list);
}

class PlainOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPlain; }

  SearchSpace space(const Problem&, const DeviceInfo&) const override { return {}; }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& p = variant.problem;
    const PlainParams params = PlainParams::of(p);
    std::string text = "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n";
    text += fmt::format("// {}\n", one_word(params.op));
    for (size_t i = 0; i < p.in.size(); ++i) text += operand_text(fmt::format("IN{}", i), p.in[i]);
    for (size_t i = 0; i < p.out.size(); ++i) text += operand_text(fmt::format("OUT{}", i), p.out[i]);
    for (const auto& [key, value] : params.constants.items()) text += constant_text(one_word(key), value);
    text += fmt::format("constexpr int THREADS = {};\n", p.threads) + std::string(cpu_text("plain_common.h"));
    if (params.constants.contains("OUTER") && params.constants.contains("LENGTH") && params.constants.contains("INNER")) text += cpu_text("plain_lines.h");
    text += cpu_text(fmt::format("plain_{}.cpp", params.source));
    return text;
  }
};

}  // namespace

const KernelImplementation* plain_on_cpu() {
  static const PlainOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
