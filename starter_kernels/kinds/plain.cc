#include "starter_kernels/kinds/plain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "graph/op.h"
#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/number_text.h"
#include "starter_kernels/kinds/pointwise.h"

namespace amdahl {
namespace {

// Storage types as the text sees them. bf16 has no C type here: such operands are refused at lowering.
std::string operand_text(const std::string& name, const Access& access) {
  return fmt::format("typedef {} {}_t;\nconstexpr int64_t {}_RANK = {};\nconstexpr int64_t {}_SHAPE[] = {{{}}};\n"
                     "constexpr int64_t {}_SIZE = {};\n",
                     c_type(access.dtype), name, name, access.shape.size(), name,
                     access.shape.empty() ? "1" : fmt::format("{}", fmt::join(access.shape, ", ")), name,
                     numel(access.shape));
}

// A problem may come from a file of others: what stands in a text by name is one word.
const std::string& one_word(const std::string& name) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; }))
    throw Error(ExitCode::kInternal, "a name in the problem is no word");
  return name;
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

class Plain : public KernelKind {
 public:
  std::string_view name() const override { return "plain"; }
  std::string_view summary() const override { return "operators without a kind of their own"; }

  Work work(const Problem& problem) const override {
    Work work;
    for (const Access& a : problem.in) work.bytes += static_cast<double>(numel(a.shape)) * static_cast<double>(size_of(a.dtype));
    for (const Access& a : problem.out) {
      work.bytes += static_cast<double>(numel(a.shape)) * static_cast<double>(size_of(a.dtype));
      work.flops += static_cast<double>(numel(a.shape));
    }
    return work;
  }

  SearchSpace space(const Problem&, const MachineInfo&) const override { return {}; }

  std::string source(const Variant& variant) const override {
    const Problem& p = variant.problem;
    std::string text = "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n";
    text += fmt::format("// {}\n", one_word(p.params.at("op").get<std::string>()));
    for (size_t i = 0; i < p.in.size(); ++i) text += operand_text(fmt::format("IN{}", i), p.in[i]);
    for (size_t i = 0; i < p.out.size(); ++i) text += operand_text(fmt::format("OUT{}", i), p.out[i]);
    for (const auto& [key, value] : p.params.at("constants").items()) text += constant_text(one_word(key), value);
    text += embedded_source("cpu/plain_common.h");
    text += embedded_source(fmt::format("cpu/plain_{}.cpp", p.params.at("source").get<std::string>()));
    return text;
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    for (const PlainOperator& row : plain_operators()) {
      if (!node.domain.empty() || row.op != node.op) continue;
      const PlainForm form = row.form(graph, node);
      Lowering lowering;
      lowering.inputs = form.inputs;
      lowering.outputs = form.outputs;
      Problem& p = lowering.variant.problem;
      p.kind = "plain";
      p.threads = threads;
      p.params = Json{{"op", node.op}, {"source", row.source}, {"constants", form.constants}};
      for (ValueId v : form.inputs) p.in.push_back(dense(graph, v));
      for (ValueId v : form.outputs) p.out.push_back(dense(graph, v));
      return lowering;
    }
    return std::nullopt;
  }

  std::vector<Graph> examples() const override { return plain_examples(); }

 private:
  static Access dense(const Graph& graph, ValueId v) {
    const Value& value = graph.value(v);
    if (value.dtype == DType::kBF16) throw Refusal("bf16 is not supported here");
    return Access::dense(value.dtype, value.shape, graph.is_constant(v));
  }
};

}  // namespace

const KernelKind* plain_kind() {
  static const Plain kind;
  return &kind;
}

}  // namespace amdahl
