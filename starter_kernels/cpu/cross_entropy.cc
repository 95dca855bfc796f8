// How a CPU computes the cross_entropy kind (starter_kernels/kinds/cross_entropy.cc).

#include "starter_kernels/kinds/cross_entropy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/cpu/row_tasks.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

class CrossEntropyOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kCrossEntropy; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const int64_t classes = problem.in[0].shape[1], positions = numel(problem.in[1].shape);
    SearchSpace s;
    s.knobs = {rows_knob(problem, positions, static_cast<double>(classes)), vector_bits_knob(device)};
    s.refuse = [](const Knobs&) { return std::string(); };
    return s;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const int64_t classes = problem.in[0].shape[1], positions = numel(problem.in[1].shape), batch = problem.in[0].shape[0];
    const DType type = problem.in[0].dtype;
    const CrossEntropyParams params = CrossEntropyParams::of(problem);
    std::string text = fmt::format(
        "typedef {} score_t;\ntypedef {} label_t;\nconstexpr int64_t CLASSES = {}, POSITIONS = {}, PLANE = {};\n"
        "constexpr bool LOGARITHMS = {}, IGNORES = {}, LOG_PROBABILITIES = {}, IS_FLOAT = {};\n"
        "constexpr int64_t IGNORED = {};\nconstexpr char REDUCTION = '{}';\n"
        // Wider vectors than registers GCC takes apart, number by number where it selects: an export is built for other machines, too.
        "#if defined(__AVX512F__)\nconstexpr int BLOCK = {};\n#elif defined(__AVX__)\nconstexpr int BLOCK = 8;\n#else\nconstexpr int BLOCK = 4;\n#endif\n",
        c_type(type), c_type(problem.in[1].dtype), classes, positions, std::max<int64_t>(1, positions / std::max<int64_t>(1, batch)), params.logarithms,
        params.ignore_index.has_value(), problem.out.size() > 1, type == DType::kF32, params.ignore_index.value_or(0), static_cast<char>(params.reduction),
        variant.knobs.at("VECTOR_BITS") / 32);
    text += fmt::format("SCALAR float load(score_t x) {{ return (float)({}); }}\nSCALAR score_t store(float x) {{ return {}; }}\n", load_text(type, "x"),
                        store_text(type, "x"));
    text += fmt::format("static inline float weight(const void* const* in, int64_t c) {{ return {}; }}\n",
                        params.weighted ? "(float)" + load_text(problem.in[2].dtype, fmt::format("((const {}*)in[2])[c]", c_type(problem.in[2].dtype))) : "1");
    return join_text({opening_text(variant), text, tasks_text(problem, variant.knobs, positions, 0, DType::kF32), std::string(cpu_text("vector_math.h")),
                      std::string(cpu_text("cross_entropy.cpp"))});
  }
};

}  // namespace

const KernelImplementation* cross_entropy_on_cpu() {
  static const CrossEntropyOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
