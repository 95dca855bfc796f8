// How an NVIDIA card computes the attention kind (starter_kernels/kinds/attention.cc).

#include "starter_kernels/kinds/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "starter_kernels/cuda/ceil_div.h"
#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/cuda/cuda_text.h"
#include "starter_kernels/cuda/limits.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/number_text.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

constexpr int64_t kAcross = 16;     // threads that share their queries
constexpr int64_t kRowBytes = 512;  // of a query, key or value in shared memory
constexpr int64_t kMostOfInt = int64_t{1} << 30;

// What a block holds of a row of each operand.
struct RowTile {
  int64_t element, lanes;             // bytes of a number; numbers of a wide load
  int64_t depth;                      // of queries and keys at a time, whole wide loads
  int64_t value_lanes, value_groups;  // of values: adjacent columns of a thread, and how many of these

  RowTile(const AttentionSizes& s, DType sum) {
    element = static_cast<int64_t>(size_of(sum));
    lanes = 16 / element;
    depth = s.width * element <= kRowBytes ? ceil_div(s.width, lanes) * lanes : kRowBytes / 2 / element;
    value_lanes = std::min(lanes, s.value_width <= kAcross ? 1 : s.value_width <= 2 * kAcross ? int64_t{2} : int64_t{4});
    value_groups = std::min(ceil_div(s.value_width, kAcross * value_lanes), kRowBytes / element / (kAcross * lanes));
  }
  int64_t value_columns() const { return kAcross * value_lanes * value_groups; }
  int64_t shared_bytes(int64_t queries, int64_t keys) const {
    return element * (queries * (depth + lanes) + keys * std::max(depth + lanes, value_columns()) + queries * (keys + lanes));
  }
};

// Values of the knob FORM. Stored in sessions: append only.
enum AttentionForm : int64_t {
  kAttentionForm = 0,     // any type and strides
  kAttentionMmaForm = 1,  // half floats on tensor cores
};

// Variants of before there were two forms have no such knob.
int64_t form_of(const Knobs& knobs) {
  const auto form = knobs.find("FORM");
  return form == knobs.end() ? int64_t{kAttentionForm} : form->second;
}

// A weight of 11 bits takes two halves to be as exact as a float; of 8, three.
int64_t terms_of(DType half) { return half == DType::kBF16 ? 3 : 2; }

// What the tensor cores' form holds; registers bound the width of values, which is not divided.
struct MmaTile {
  int64_t depth, width, all_keys, terms;

  MmaTile(const AttentionSizes& s, DType half)
      : depth(ceil_div(s.width, 16) * 16), width(ceil_div(s.value_width, 16) * 16), all_keys(s.keys), terms(terms_of(half)) {}
  bool fits() const { return width <= 128 && depth <= 256; }
  int64_t shared_bytes(int64_t queries, int64_t keys, int64_t key_warps) const {
    const int64_t tiles = all_keys > keys ? 2 : 1, operands = queries * (depth + 8) + tiles * keys * (depth + width + 16),
                  weights = terms * queries * (keys + 8);
    return 2 * (operands + weights) + 3 * 4 * key_warps * queries;
  }
  // Warps that share a tile's keys share the columns of its values, eight at a time; in odd groups of eight, of 32 keys.
  std::string refused(int64_t queries, int64_t keys, int64_t key_warps) const {
    if (queries < 16) return "a warp has 16 queries";
    if (keys / key_warps < 16) return "a warp takes 16 keys at a time";
    if (keys / key_warps > 64) return "a warp has the scores of 64 keys at most";
    if (width % (8 * key_warps) != 0) return fmt::format("{} columns of values are not a multiple of 8 for {} warps", width, key_warps);
    if (width / key_warps % 16 != 0 && keys % 32 != 0) return "eight columns take 32 keys at a time";
    return refused_shared(shared_bytes(queries, keys, key_warps), kDynamicSharedBytes);
  }
};

// Whether all are of one half float type, and numbers of a row adjacent.
bool has_mma_form(const Problem& problem) {
  const DType type = problem.in[0].dtype;
  const AttentionInputs inputs(problem);
  const std::initializer_list<size_t> operands{0, 1, 2, inputs.more_keys, inputs.more_values};
  const bool rows = std::all_of(operands.begin(), operands.end(), [&](size_t i) { return problem.in[i].dtype == type && problem.in[i].strides.back() == 1; });
  const AttentionSizes s(problem);
  return is_half(type) && rows && s.keys > 0 && s.queries > 0 && MmaTile(s, type).fits();
}

// A key that causality hides has a weight of zero whatever its score is.
bool can_skip(const AttentionParams& params) { return params.causal && params.masked_value == -HUGE_VAL && !params.hidden_added; }

struct Starter {
  int64_t queries = 64, tq = 4, keys = 64, parts = 1, key_warps = 1;

  // Of the tensor cores' form: as many blocks as multiprocessors, a warp has 16 queries, and all keys are there at once where they fit: 12 heads of 128 took
  // 3.8 us in tiles of 64 and 3.5 in one, of 197 took 7.8 and 6.8 (H200). A query alone has too little to do for what it reads: four blocks share 512 keys, 16 a
  // warp, in 4.0 us, where two take 5.6 and sums of threads 12.
  Starter(const AttentionSizes& s, const MmaTile& tile, int64_t units) {
    const int64_t heads = s.batch * s.heads;
    const bool few = s.queries <= 16;
    while (queries > 16 && heads * ceil_div(s.queries, queries) < units) queries /= 2;
    keys = s.keys > 256 ? 128 : 256;
    const auto warps = [&] {
      int64_t n = std::clamp<int64_t>(keys / (few ? 16 : 32), 1, 8);
      while (n > 1 && !tile.refused(queries, keys, n).empty() && keys / (n / 2) <= 64) n /= 2;
      return n;
    };
    while (keys > 16 && (keys / 2 >= s.keys || !tile.refused(queries, keys, warps()).empty())) keys /= 2;
    key_warps = warps();
    while (parts < 16 && heads * ceil_div(s.queries, queries) * parts * 2 <= 2 * units && s.keys >= (few ? 2 : 4) * parts * keys) parts *= 2;
  }
  Starter(const AttentionSizes& s, const RowTile& row, int64_t units) {
    const int64_t heads = s.batch * s.heads;
    const auto use = [&](int64_t block, int64_t thread) { queries = block, tq = thread; };
    if (s.queries <= 4) use(4, 1);
    else if (s.queries <= 16) use(16, 1);
    else if (heads * ceil_div(s.queries, 64) < units) use(32, 2);
    while (keys > 16 && (keys / 2 >= s.keys || row.shared_bytes(queries, keys) > kDynamicSharedBytes)) keys /= 2;
    if (row.shared_bytes(queries, keys) > kDynamicSharedBytes) use(32, 2);
    const int64_t blocks = heads * ceil_div(s.queries, queries) * ceil_div(s.value_width, row.value_columns());
    while (parts < 16 && blocks * parts * 2 <= 2 * units && s.keys >= 4 * parts * keys) parts *= 2;
  }
};

// `int64_t NAME_head(n)`, its row's and column's strides, and `sum_t load_NAME(NAME_t)`.
std::string operand_text(const std::string& name, const std::string& upper, const Access& a, int64_t heads) {
  const int64_t group = a.shape[1] > 0 ? heads / a.shape[1] : 1;  // a multiple of this operand's heads
  return cuda_sizes({{upper + "_ROW", a.strides[2]}, {upper + "_COLUMN", a.strides[3]}}) +
         fmt::format(
             "typedef {1} {0}_t;\nstatic inline int64_t {0}_head(int64_t n) {{ return {2} + n / {3} * {4}ll + n % {3} / {5} * {6}ll; }}\n"
             "static inline auto load_{0}({0}_t x) {{ return {7}; }}\n",
             name, c_type(a.dtype), a.offset, heads, a.strides[0], group, a.strides[1], load_text(a.dtype, "x"));
}

std::string mask_text(const Problem& p, const AttentionParams& params, DType sum, int64_t heads) {
  const auto number = [&](double x) { return sum == DType::kF64 ? double_text(x) : float_text(x); };
  const size_t mask = AttentionInputs(p).mask;
  const bool has = mask > 0, selects = has && p.in[mask].dtype == DType::kBool;
  const std::string hidden = number(params.masked_value);
  std::string text = has ? operand_text("mask", "MASK", p.in[mask], heads)
                         : "typedef float mask_t;\nenum : long long { MASK_ROW, MASK_COLUMN = 0 };\nstatic inline int64_t mask_head(int64_t) { return 0; }\n"
                           "static inline float load_mask(mask_t x) { return x; }\n";
  text += fmt::format("enum : bool {{ HAS_MASK = {}, CAUSAL = {}, ZERO_HIDDEN_ROWS = {}, ZERO_NAN_WEIGHTS = {} }};\n", has, params.causal,
                      params.zero_hidden_rows, params.zero_nan_weights);
  text += fmt::format("static inline sum_t masked(sum_t score, mask_t mask) {{ return {}; }}\n",
                      selects ? "load_mask(mask) ? score : sum_t(" + hidden + ")" : "score + sum_t(load_mask(mask))");
  return text + fmt::format("static inline sum_t hidden(sum_t score) {{ return {}{}; }}\n", params.hidden_added ? "score + " : "", hidden);
}

// fp16 has no exponents for small weights: they are made larger, as its values, at most 65504, let them be.
std::string mma_text(DType half, double largest_weight) {
  const bool bf16 = half == DType::kBF16;
  return join_text({fmt::format("#define HALF \"{}\"", bf16 ? "bf16" : "f16"), cuda_sizes({{"TERMS", terms_of(half)}, {"ODD_BITS", bf16 ? 0x7f80 : 0x7c00}}),
                    fmt::format("#define LARGER_BY {}", float_text(bf16 ? largest_weight : 32768)),
                    fmt::format("static inline v_t to_half(float y) {{ return {}; }}", store_text(half, "y")), std::string(cuda_text("mma.h"))});
}

class AttentionOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kAttention; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    const AttentionSizes s(problem);
    const RowTile row(s, accumulator_of(problem.in[0].dtype));
    const MmaTile mma(s, problem.in[0].dtype);
    const bool is_mma = has_mma_form(problem);
    const int64_t units = std::max(card.units, 1);
    const Starter starter = is_mma ? Starter(s, mma, units) : Starter(s, row, units);
    const bool skips = can_skip(AttentionParams::of(problem));
    SearchSpace space;
    space.knobs = {{"FORM", is_mma ? std::vector<int64_t>{kAttentionForm, kAttentionMmaForm} : std::vector<int64_t>{kAttentionForm}, is_mma,
                    "0 any attention, sums of a thread; 1 tensor cores"},
                   {"QUERIES", {4, 16, 32, 64}, starter.queries, "queries of a block"},
                   {"TQ", {1, 2, 4}, starter.tq, "adjacent queries of a thread"},
                   {"KEYS", is_mma ? std::vector<int64_t>{16, 32, 64, 128, 256} : std::vector<int64_t>{16, 32, 64}, starter.keys, "keys of a tile"},
                   {"PARTS", {1, 2, 4, 8, 16}, starter.parts, "blocks that share a query's keys"},
                   {"SKIP_CAUSAL", skips ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}, skips && s.keys >= 256 && starter.keys < s.keys,
                    "1: tiles of keys that a block's queries do not see are left out where their values are finite"}};
    if (is_mma) space.knobs.push_back({"KEY_WARPS", {1, 2, 4, 8}, starter.key_warps, "warps that share a tile's keys on tensor cores"});
    space.refuse = [=](const Knobs& k) -> std::string {
      const bool on_mma = form_of(k) == kAttentionMmaForm;
      if (on_mma && k.at("TQ") != starter.tq) return "a warp has its queries together";  // all values are the same text
      if (k.at("SKIP_CAUSAL") == 1 && s.keys <= k.at("KEYS")) return "one tile has all keys: none is left out";
      if (!on_mma && k.at("KEYS") > 64) return "a thread has sums of 64 keys at most";
      const int64_t threads = on_mma ? k.at("QUERIES") * 2 * k.at("KEY_WARPS") : k.at("QUERIES") / k.at("TQ") * kAcross;
      if (threads < 32 || threads > 1024) return fmt::format("a block of {} threads: 32 to 1024 are possible", threads);
      const std::string refusal = on_mma ? mma.refused(k.at("QUERIES"), k.at("KEYS"), k.at("KEY_WARPS"))
                                         : refused_shared(row.shared_bytes(k.at("QUERIES"), k.at("KEYS")), kDynamicSharedBytes);
      return refusal.empty() ? refused_parts(k.at("PARTS"), s.batch * s.heads * s.queries * (s.value_width + 2) * row.element) : refusal;
    };
    return space;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& p = variant.problem;
    const AttentionSizes s(p);
    const AttentionInputs inputs(p);
    const AttentionParams params = AttentionParams::of(p);
    const DType sum = accumulator_of(p.in[0].dtype);
    const RowTile row(s, sum);
    const Knobs& k = variant.knobs;
    const bool skips = k.at("SKIP_CAUSAL") == 1, in_parts = k.at("PARTS") > 1, on_mma = form_of(k) == kAttentionMmaForm;
    int64_t reach = 0;  // of indices within a head
    for (const Access& a : p.in) reach = std::max(reach, a.shape[2] * std::abs(a.strides[2]) + a.shape[3] * std::abs(a.strides[3]));
    std::string text = join_text({cuda_opening(p),
                                  fmt::format("typedef {} sum_t;\ntypedef {} index_t;\n#define SCALE {}\n#define LARGEST_WEIGHT {}", register_type(sum),
                                              reach < kMostOfInt ? "int" : "int64_t", double_text(params.scale), double_text(s.largest_weight())),
                                  cuda_sizes({{"HEADS", s.batch * s.heads},
                                              {"S", s.queries},
                                              {"T", s.keys},
                                              {"FIRST_KEYS", s.first_keys},
                                              {"MORE_K_INPUT", static_cast<int64_t>(inputs.more_keys)},
                                              {"MORE_V_INPUT", static_cast<int64_t>(inputs.more_values)},
                                              {"D", s.width},
                                              {"DV", s.value_width},
                                              {"CAUSAL_OFFSET", params.causal_offset},
                                              {"DEPTH", row.depth},
                                              {"VALUE_LANES", row.value_lanes},
                                              {"VALUE_GROUPS", row.value_groups}})});
    for (const auto& [name, value] : k) text += cuda_sizes({{name, value}});
    text += operand_text("q", "Q", p.in[0], s.heads) + operand_text("k", "K", p.in[1], s.heads) + operand_text("v", "V", p.in[2], s.heads) +
            operand_text("more_k", "MORE_K", p.in[inputs.more_keys], s.heads) + operand_text("more_v", "MORE_V", p.in[inputs.more_values], s.heads) +
            operand_text("out", "OUT", p.out[0], s.heads) + mask_text(p, params, sum, s.heads);
    text += fmt::format("static inline out_t store_out(sum_t y) {{ return {}; }}\n", store_text(p.out[0].dtype, "y"));
    if (on_mma) text = join_text({text, mma_text(p.in[0].dtype, s.largest_weight())});
    return join_text(
        {text, std::string(cuda_text("shared_loop.h")), std::string(cuda_text("attention_rows.h")), std::string(cuda_text("attention_result.h")),
         std::string(cuda_text(on_mma ? "attention_mma.cu" : "attention.cu")), skips ? std::string(cuda_text("attention_finite.cu")) : "",
         in_parts ? std::string(cuda_text("attention_parts.cu")) : "",
         fmt::format("TABLE Launch amdahl_launches[] = {{{}ATTENTION_LAUNCH{}}};", skips ? "FINITE_LAUNCH, " : "", in_parts ? ", PARTS_LAUNCH" : "")});
  }
};

}  // namespace

const KernelImplementation* attention_on_cuda() {
  static const AttentionOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl
