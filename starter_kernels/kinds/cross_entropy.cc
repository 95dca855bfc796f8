// The cross_entropy kind: SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss.
//
// in[0]: scores [N, C, positions …]; in[1]: labels, any integer type; in[2]: weights [C] if params["weighted"]. out[0]: the
// loss; out[1]: log-probabilities, if wanted. params: "reduction" "none" | "mean" | "sum", "ignore_index" if there is one,
// "logarithms" when the scores are log-probabilities already.

#include <fmt/format.h>

#include <algorithm>

#include "starter_kernels/kinds/embedded_sources.h"
#include "starter_kernels/examples/example_graph.h"
#include "starter_kernels/kinds/kernel_kinds.h"
#include "starter_kernels/kinds/row_space.h"

namespace amdahl {
namespace {

class CrossEntropy final : public KernelKind {
 public:
  std::string_view name() const override { return "cross_entropy"; }
  std::string_view summary() const override { return "softmax cross-entropy of scores against class numbers"; }

  Work work(const Problem& problem) const override {
    Work w{20.0 * static_cast<double>(numel(problem.in[0].shape)), 0};
    for (const Access& a : problem.in) w.bytes += operand_bytes(a);
    for (const Access& a : problem.out) w.bytes += operand_bytes(a);
    return w;
  }

  SearchSpace space(const Problem& problem, const MachineInfo& machine) const override {
    const int64_t classes = problem.in[0].shape[1], positions = numel(problem.in[1].shape);
    SearchSpace s;
    s.knobs = {rows_knob(problem, positions, static_cast<double>(classes)), vector_bits_knob(machine)};
    s.refuse = [](const Knobs&) { return std::string(); };
    return s;
  }

  std::string source(const Variant& variant) const override {
    const Problem& problem = variant.problem;
    const int64_t classes = problem.in[0].shape[1], positions = numel(problem.in[1].shape), batch = problem.in[0].shape[0];
    const DType type = problem.in[0].dtype;
    std::string text = fmt::format(
        "typedef {} score_t;\ntypedef {} label_t;\nconstexpr int64_t CLASSES = {}, POSITIONS = {}, PLANE = {};\n"
        "constexpr bool LOGARITHMS = {}, IGNORES = {}, LOG_PROBABILITIES = {}, IS_FLOAT = {};\n"
        "constexpr int64_t IGNORED = {};\nconstexpr char REDUCTION = '{}';\n"
        // Wider vectors than registers GCC takes apart, number by number where it selects: an export is built for other machines, too.
        "#if defined(__AVX512F__)\nconstexpr int BLOCK = {};\n#elif defined(__AVX__)\nconstexpr int BLOCK = 8;\n#else\nconstexpr int BLOCK = 4;\n#endif\n",
        c_type(type), c_type(problem.in[1].dtype), classes, positions, std::max<int64_t>(1, positions / std::max<int64_t>(1, batch)),
        problem.params.value("logarithms", false), problem.params.contains("ignore_index"), problem.out.size() > 1, type == DType::kF32,
        problem.params.value("ignore_index", int64_t{0}), problem.params.at("reduction").get<std::string>()[0],
        variant.knobs.at("VECTOR_BITS") / 32);
    text += fmt::format("SCALAR float load(score_t x) {{ return (float)({}); }}\nSCALAR score_t store(float x) {{ return {}; }}\n",
                        load_text(type, "x"), store_text(type, "x"));
    const bool weighted = problem.params.value("weighted", false);
    text += fmt::format("static inline float weight(const void* const* in, int64_t c) {{ return {}; }}\n",
                        weighted ? "(float)" + load_text(problem.in[2].dtype, fmt::format("((const {}*)in[2])[c]", c_type(problem.in[2].dtype))) : "1");
    return join_text({opening_text(variant), text, tasks_text(problem, variant.knobs, positions, 0, DType::kF32),
                      std::string(embedded_source("cpu/vector_math.h")),
                      std::string(embedded_source("cpu/cross_entropy.cpp"))});
  }

  std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const override {
    const bool logarithms = node.op == "NegativeLogLikelihoodLoss";
    if (!node.domain.empty() || (node.op != "SoftmaxCrossEntropyLoss" && !logarithms)) return std::nullopt;
    if (graph.value(node.inputs[0]).dtype == DType::kF64) return std::nullopt;
    Lowering l;
    Problem& p = l.variant.problem;
    for (ValueId v : node.inputs)
      if (v != kNoValue) l.inputs.push_back(v), p.in.push_back(dense_access(graph, v));
    for (ValueId v : node.outputs)
      if (v != kNoValue) l.outputs.push_back(v), p.out.push_back(dense_access(graph, v));
    if (node.outputs[0] == kNoValue) return std::nullopt;
    p.kind = name();
    p.threads = threads;
    p.params["reduction"] = node.attr_string("reduction", "mean");
    if (node.has("ignore_index")) p.params["ignore_index"] = node.attr_int("ignore_index", 0);
    if (logarithms) p.params["logarithms"] = true;
    if (p.in.size() > 2) p.params["weighted"] = true;
    l.variant.knobs = space(p, this_machine()).starters();
    return l;
  }

  std::vector<Graph> examples() const override { return row_examples(name()); }
};

}  // namespace

const KernelKind* cross_entropy_kind() {
  static const CrossEntropy kind;
  return &kind;
}

}  // namespace amdahl
