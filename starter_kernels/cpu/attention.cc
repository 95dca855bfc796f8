// How a CPU computes the attention kind (starter_kernels/kinds/attention.cc).

#include "starter_kernels/kinds/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/gemm_prelude.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/number_text.h"

namespace amdahl {
namespace {

class AttentionOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kAttention; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const AttentionSizes s(problem);
    const bool avx512 = device.has("avx512f");
    const bool copies = accumulator_of(problem.in[0].dtype) != problem.in[0].dtype || AttentionParams::of(problem).appended;
    SearchSpace space;
    const auto knob = [&](const char* name, std::vector<int64_t> values, int64_t starter, const char* meaning) {
      space.knobs.push_back({name, std::move(values), starter, meaning});
    };
    const VectorUnit unit = vector_unit(device);
    knob("VLEN", unit.widths, unit.widths.back(), "vector width in 4-byte lanes");
    knob("MR", {2, 4, 6, 8, 12}, avx512 ? 8 : 6, "rows of the register tile: keys for the scores, queries for the product with v");
    knob("NRV", {1, 2, 3, 4}, 2, "vectors in a row of the register tile");
    knob("BLOCK_Q", up_to({16, 32, 64, 128}, s.queries), std::min<int64_t>(32, up_to({16, 32, 64, 128}, s.queries).back()), "queries of a block");
    knob("ONLINE", {0, 1}, 0, "1: running maximum over blocks of keys (flash); 0: all scores of a block of queries are held");
    const auto block_k = up_to({32, 64, 128, 256, 512}, s.keys);
    knob("BLOCK_K", block_k, std::min<int64_t>(128, block_k.back()), "keys of a block, when ONLINE");
    const AttentionParams params = AttentionParams::of(problem);
    if (s.causal && (params.masked_value == -HUGE_VAL || params.hidden_added))
      knob("SKIP_CAUSAL", {0, 1}, 0, "1: keys behind a block's last query are not looked at");
    else knob("SKIP_CAUSAL", {0}, 0, "1: keys behind a block's last query are not looked at");
    knob("PACK_KV", copies ? std::vector<int64_t>{1} : std::vector<int64_t>{0, 1}, copies,
         "1: k and v of a head are copied together first; 0: read where they are");
    knob("UNROLL_K", {1, 2, 4, 8}, 4, "steps in the body of the inner loop");
    knob("TASKS", problem.threads > 1 ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{1}, 1,
         "parts a thread; above 1 they are handed out as threads become free");
    const int64_t registers = unit.registers;
    const int64_t keys = s.keys;
    space.refuse = [=](const Knobs& k) -> std::string {
      const int64_t tile = k.at("MR") * k.at("NRV") + k.at("NRV");
      if (tile > registers) return fmt::format("a tile of {}x{} vectors needs {} registers, there are {}", k.at("MR"), k.at("NRV"), tile, registers);
      if (!k.at("ONLINE") && keys * k.at("BLOCK_Q") * 4 > (int64_t{64} << 20)) return "the scores of a block of queries take more than 64 MiB a thread";
      return "";
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override;
};

std::string AttentionOnCpu::source(const Variant& variant, const DeviceInfo&) const {
  const Problem& p = variant.problem;
  const Access &q = p.in[0], &k = p.in[1], &v = p.in[2], &out = p.out[0];
  const AttentionSizes s(p);
  const AttentionParams params = AttentionParams::of(p);
  const DType acc = accumulator_of(q.dtype);
  const AttentionInputs inputs(p);
  const bool has_mask = inputs.mask > 0;
  const bool selects = has_mask && p.in[3].dtype == DType::kBool;
  std::vector<DType> types{q.dtype, k.dtype, v.dtype};
  if (has_mask && !selects) types.push_back(p.in[3].dtype);
  types.push_back(out.dtype);

  std::string text = fmt::format("// attention of {} heads, {} queries, {} keys\n", s.batch * s.heads, s.queries, s.keys);
  text += gemm_types(acc, types);
  text += fmt::format("typedef {} Q_T;\ntypedef {} K_T;\ntypedef {} V_T;\ntypedef {} OUT_T;\ntypedef {} MASK_T;\n", storage_type(q.dtype),
                      storage_type(k.dtype), storage_type(v.dtype), storage_type(out.dtype), has_mask ? storage_type(p.in[3].dtype) : "float");
  const auto constant = [&](const std::string& name, int64_t value) { text += fmt::format("constexpr int64_t {} = {};\n", name, value); };
  constant("HEADS", s.batch * s.heads), constant("S", s.queries), constant("T", s.keys), constant("D", s.width);
  constant("FIRST_KEYS", s.first_keys), constant("MORE_K_INPUT", static_cast<int64_t>(inputs.more_keys));
  constant("MORE_V_INPUT", static_cast<int64_t>(inputs.more_values));
  constant("DV", s.value_width), constant("THREADS", p.threads);
  const auto operand = [&](const std::string& name, const Access& a) {
    constant(name + "_ROW", a.strides[2]), constant(name + "_COL", a.strides[3]);
    // Head number n of [B, H]; H may be a multiple of this operand's heads.
    const int64_t group = a.shape[1] > 0 ? s.heads / a.shape[1] : 1;
    std::string lower_name = name;
    for (char& c : lower_name) c = static_cast<char>(std::tolower(c));
    text += fmt::format("static inline int64_t {}_head(int64_t n) {{ return {} + n / {} * {} + n % {} / {} * {}; }}\n", lower_name, a.offset, s.heads,
                        a.strides[0], s.heads, group, a.strides[1]);
  };
  operand("Q", q), operand("K", k), operand("V", v), operand("OUT", out);
  operand("MORE_K", p.in[inputs.more_keys]), operand("MORE_V", p.in[inputs.more_values]);
  if (has_mask) operand("MASK", p.in[3]);
  else text += "constexpr int64_t MASK_ROW = 0, MASK_COL = 0;\nstatic inline int64_t mask_head(int64_t) { return 0; }\n";
  for (const auto& [name, value] : variant.knobs) constant(name, value);
  constant("PREFETCH", 0);
  text += gemm_schedule(variant);
  text += fmt::format("constexpr bool CAUSAL = {}, MASK_ADDED = {}, MASK_SELECTS = {}, SAME_OUT = {};\n", s.causal, has_mask && !selects, selects,
                      out.dtype == acc);
  text += fmt::format("constexpr bool ZERO_HIDDEN_ROWS = {}, ZERO_NAN_WEIGHTS = {};\n", params.zero_hidden_rows, params.zero_nan_weights);
  constant("CAUSAL_OFFSET", params.causal_offset);
  text += fmt::format("#define SCALE {}\n#define LARGEST_WEIGHT {}\n", double_text(params.scale), double_text(s.largest_weight()));
  text += fmt::format("#define MASKED {}\n", params.masked_value == -HUGE_VAL ? "(-__builtin_inf())" : double_text(params.masked_value));
  text += selects ? "static inline ACC masked(ACC score, bool keep) { return keep ? score : ACC(MASKED); }\n"
                  : "static inline ACC masked(ACC score, MASK_T add) { return score + to_acc(add); }\n";
  text += params.hidden_added ? "static inline ACC hidden_score(ACC score) { return score + ACC(MASKED); }\n"
                              : "static inline ACC hidden_score(ACC) { return ACC(MASKED); }\n";
  text += cpu_text("scalar_math.h");
  text += cpu_text("sizes.h");
  text += cpu_text("gemm_tile.h");
  constant("BLOCK", variant.knobs.at("VLEN"));
  text += cpu_text("vector_math.h");
  text += cpu_text("attention.cpp");
  return text;
}

}  // namespace

const KernelImplementation* attention_on_cpu() {
  static const AttentionOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
