// How a CPU computes the matmul kind (starter_kernels/kinds/matmul.cc).

#include "starter_kernels/kinds/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/device_info.h"
#include "starter_kernels/cpu/byte_epilogue.h"
#include "starter_kernels/cpu/byte_products.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/gemm_cycles.h"
#include "starter_kernels/cpu/gemm_prelude.h"
#include "starter_kernels/cpu/matmul_bf16.h"
#include "starter_kernels/cpu/matmul_strassen.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/cpu/vector_epilogue.h"
#include "starter_kernels/cpu/vector_width.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/number_text.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

int64_t at_most(const std::vector<int64_t>& values, int64_t wanted) {
  int64_t best = values.front();
  for (int64_t v : values)
    if (v <= wanted) best = v;
  return best;
}

// Of the thread that has most to do, all matrices of the batch.
double cycles_of(const MatmulSizes& s, const Knobs& k, int64_t a_row_bytes, int threads, const DeviceInfo& device) {
  constexpr double kRegion = 4500;  // a parallel region costs 1.8 us
  const int64_t parts = k.at("PARTITION") == 0 ? 1 : std::max<int64_t>(1, threads / std::gcd(s.batch, int64_t{threads}));
  const int64_t parts_m = k.at("PARTITION") == 2 ? parts : 1, parts_n = parts / parts_m;
  const auto whole = [](int64_t n, int64_t unit) { return (n + unit - 1) / unit; };
  GemmBlocking b;
  b.lanes = k.at("VLEN"), b.mr = k.at("MR"), b.nrv = k.at("NRV");
  b.rows = std::min(s.m, whole(whole(s.m, b.mr), parts_m) * b.mr);
  const int64_t vectors = whole(s.n, b.lanes);
  b.vectors = std::min(vectors, whole(whole(vectors, b.nrv), parts_n) * b.nrv);
  b.k = whole(s.k, k.at("SPLIT_K"));
  b.block_rows = std::min(b.rows, whole(k.at("MC"), b.mr) * b.mr);
  b.block_k = std::min(b.k, k.at("KC"));
  b.block_vectors = std::min(b.vectors, whole(k.at("NC"), b.lanes * b.nrv) * b.nrv);
  b.a_row_bytes = k.at("PACK_A") ? 0 : std::max<int64_t>(4, a_row_bytes);
  b.a_stays = k.at("LOOP_ORDER") == 1;
  b.b_packed = k.at("PACK_B") == 1;
  b.b_prefetched = b.b_packed && k.at("PREFETCH") > 0;
  const double batches = k.at("PARTITION") == 0 ? static_cast<double>(s.batch) : static_cast<double>(whole(s.batch, std::max<int64_t>(1, threads / parts)));
  return batches * gemm_cycles(b, device) + (k.at("PARTITION") == 0 ? 0 : kRegion);
}

// A product in blocks, as its knobs depend on it.
struct BlockedProduct {
  const Problem& problem;
  const DeviceInfo& device;
  MatmulSizes s;  // K in elements, which may hold several of its steps (kernels/gemm_tile.h)
  bool pairs, bytes, avx512, converts;

  BlockedProduct(const Problem& p, const DeviceInfo& d)
      : problem(p),
        device(d),
        s(MatmulSizes::of(p)),
        pairs(multiplies_in_bf16(p)),
        bytes(multiplies_bytes(p)),
        avx512(d.has("avx512f")),
        converts(pairs || accumulator() != p.in[0].dtype) {
    const int64_t steps = pairs ? 2 : bytes ? byte_steps(d).front() : 1;
    s.k = (s.k + steps - 1) / steps;
  }
  DType accumulator() const { return accumulator_of(problem.in[0].dtype); }
  int64_t accumulator_bytes() const { return static_cast<int64_t>(size_of(accumulator())); }
  // An output narrower than the sum cannot hold partial sums: K is not split.
  bool holds_partial_sums() const { return problem.out[0].dtype == accumulator() && (bytes || problem.out[0].dtype == problem.in[0].dtype); }
  // Fours of bytes lie in A as they are multiplied.
  bool reads_fours() const {
    const Access& a = problem.in[0];
    const bool rows_of_fours = std::all_of(a.strides.begin(), a.strides.end() - 1, [](int64_t stride) { return stride % 4 == 0; });
    return bytes && byte_steps(device).front() == 4 && a.strides.back() == 1 && a.shape.back() % 4 == 0 && rows_of_fours;
  }
  // Weights are read once whatever is done.
  bool has_few_rows() const {
    const std::vector<int64_t>& b = problem.in[1].strides;
    return s.m <= 8 && s.batch == 1 && !converts && problem.out[0].dtype == problem.in[0].dtype && (b.back() == 1 || b[b.size() - 2] == 1);
  }
  // The same of A: the product's transpose has few rows.
  bool has_few_columns() const {
    const std::vector<int64_t>& a = problem.in[0].strides;
    return s.n <= 8 && s.m > 8 && s.batch == 1 && !converts && problem.out[0].dtype == problem.in[0].dtype && (a.back() == 1 || a[a.size() - 2] == 1);
  }
  // From the start where tiles would be mostly empty.
  bool starts_as_gemv() const { return s.m == 1 ? has_few_rows() : s.n <= 4 && has_few_columns(); }
  // Starting a parallel region costs microseconds: some ten thousand multiplications.
  bool is_worth_threads() const { return problem.threads > 1 && 2.0 * s.batch * s.m * s.n * s.k > 2e5; }
};

using Values = std::vector<int64_t>;

// 8 x 2 vectors of 16 floats: on Sapphire Rapids, two threads, faster than 8 x 3, 10 x 2, 12 x 2, 14 x 2 and 6 x 4 on 64 x 768 x 768, 196 x 1536 x 384,
// 128 x 2304 x 768, 1500 x 384 x 384 and 784 x 768 x 192; on 49 x 3072 x 768 10 x 2 was 2% ahead. AVX2 has half the registers.
std::vector<Knob> tile_knobs(const BlockedProduct& p) {
  const Values widths = p.pairs || (p.bytes && p.avx512) ? Values{16} : vector_unit(p.device).widths;
  const Values mr = up_to({1, 2, 4, 6, 8, 10, 12, 14, 16}, p.s.m);
  return {{"VLEN", widths, widths.back(), "vector width in 4-byte lanes"},
          {"MR", mr, at_most(mr, p.avx512 ? 8 : 6), "rows of the register tile"},
          {"NRV", {1, 2, 3, 4, 6}, 2, "vectors in a row of the register tile"}};
}

std::vector<Knob> block_knobs(const BlockedProduct& p) {
  const Values mc = up_to({24, 48, 96, 144, 192, 384, 768}, p.s.m);
  const Values kc = p.holds_partial_sums() ? up_to({64, 128, 192, 256, 384, 512, 768, 1024, 1536, 3072}, p.s.k)
                                           : Values{std::max<int64_t>(1, MatmulSizes::of(p.problem).k)};  // all of it, however many steps an element has
  const Values nc = up_to({64, 128, 256, 512, 1024, 2048, 4096}, p.s.n);
  const Values pack_b = p.pairs || (p.bytes && p.problem.in[1].constant) ? Values{1} : p.problem.in[1].constant ? Values{0, 1} : Values{0};
  return {{"MC", mc, at_most(mc, 96), "rows of A in a block that stays in L2"},
          {"KC", kc, at_most(kc, 256), "steps of K in a block: a panel of KC x NR of B stays in L1"},
          {"NC", nc, at_most(nc, 1024), "columns of B in a block"},
          {"PACK_A", p.converts && !p.reads_fours() ? Values{1} : Values{0, 1}, !p.reads_fours(), "1: A is copied to panels of MR rows"},
          {"PACK_B", pack_b, p.has_few_columns() && p.starts_as_gemv() ? 0 : pack_b.back(),
           "1: the constant B is stored as panels at load; 0: packed block by block at every call"},
          {"LOOP_ORDER", {0, 1}, 0, "0: a panel of B stays in L1 while A passes; 1: a panel of A while B passes"}};
}

std::vector<Knob> thread_knobs(const BlockedProduct& p) {
  if (p.problem.threads <= 1) return {{"PARTITION", {0}, 0, "parts of C over threads: 0 one thread"}, {"TASKS", {1}, 1, "parts a thread"}};
  return {
      {"PARTITION", {0, 1, 2, 3}, p.is_worth_threads() ? (p.s.n >= p.s.m ? 1 : 2) : 0, "parts of C over threads: 0 one thread, 1 along N, 2 along M, 3 both"},
      {"TASKS", {1, 2, 4, 8}, 1, "parts a thread; above 1 they are handed out as threads become free"}};
}

std::vector<Knob> loop_knobs(const BlockedProduct& p) {
  // Worth it only where C has fewer tiles than threads can share, and parts stay long enough to pay for adding them.
  const bool can_split = p.s.batch * p.s.m * p.s.n <= 65536 && p.s.k >= 256;
  // Weights come from L3 or DRAM in a model, and the hardware's prefetcher starts anew at each panel: 64 x 768 x 768 on Sapphire Rapids, 24 matrices in
  // turns, packed 240 us a product with and 329 us without; packed at every call 374 us.
  return {{"PREFETCH", {0, 1, 2}, p.problem.in[1].constant, "panels of B fetched ahead; 0: left to the hardware"},
          {"UNROLL_K", {1, 2, 4, 8}, 4, "steps of K in the body of the inner loop"},
          {"GEMV", p.has_few_rows() || p.has_few_columns() ? Values{0, 1} : Values{0}, p.starts_as_gemv(),
           "1: few rows of A against B in long streams, packed (PACK_B) or where it is, or few columns of B against A; 0: blocked"},
          {"SPLIT_K", can_split ? Values{1, 2, 4} : Values{1}, 1, "parts of K that are summed apart"}};
}

std::function<std::string(const Knobs&)> refusals(const BlockedProduct& p) {
  return [s = p.s, few_columns = p.has_few_columns(), registers = vector_unit(p.device).registers, element = p.accumulator_bytes(),
          l2 = p.device.l2_bytes](const Knobs& k) -> std::string {
    if (k.count("K_STEPS") && k.at("K_STEPS") != 4 && !k.at("PACK_A")) return "A is packed where its bytes become 16 bits";
    if (k.at("GEMV") && k.at("SPLIT_K") > 1) return "the GEMV form does not split K";
    if (k.at("GEMV") && few_columns && k.at("PACK_B")) return "the GEMV form of few columns reads B where it is";
    const int64_t tile = k.at("MR") * k.at("NRV") + k.at("NRV");
    if (tile > registers) return fmt::format("a tile of {}x{} vectors needs {} registers, there are {}", k.at("MR"), k.at("NRV"), tile, registers);
    if (k.at("PACK_A") && std::min(k.at("MC"), s.m) * std::min(k.at("KC"), s.k) * element > 2 * l2)
      return "the packed block of A does not fit twice the L2 cache";
    if (!k.at("PACK_B") && std::min(k.at("NC"), s.n) * std::min(k.at("KC"), s.k) * element > (int64_t{32} << 20))
      return "the packed block of B takes more than 32 MiB a thread";
    return "";
  };
}

class MatmulOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kMatmul; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override;

  std::string source(const Variant& variant, const DeviceInfo&) const override;
};

SearchSpace MatmulOnCpu::space(const Problem& problem, const DeviceInfo& device) const {
  if (strassen_levels(problem) > 0) return strassen_space(problem, device);
  if (multiplies_in_bf16(problem) && multiplies_on_tiles(device)) return tile_space(problem);
  const BlockedProduct product(problem, device);
  SearchSpace space;
  for (auto part : {tile_knobs, block_knobs, thread_knobs, loop_knobs})
    for (Knob& knob : part(product)) space.knobs.push_back(std::move(knob));
  if (product.bytes) space.knobs.push_back({"K_STEPS", byte_steps(device), byte_steps(device).front(), "steps of K in one addition: 4 bytes, or 2 in 16 bits"});
  if (product.accumulator_bytes() == 4)
    space.cycles = [s = product.s, device, a_row = problem.in[0].strides[problem.in[0].strides.size() - 2], threads = problem.threads](const Knobs& k) {
      return k.at("GEMV") ? 0 : cycles_of(s, k, a_row * 4, threads, device);
    };
  space.refuse = refusals(product);
  return space;
}

// finish() on vectors of a row of C, where the epilogue has that form; and the prefetch of what it reads.
std::string finish_in_registers(const Problem& p, const std::string& scale, const std::string& indices) {
  const std::optional<std::string> vectors = p.out[0].strides.back() == 1 ? emit_vector_epilogue(p, 2) : std::nullopt;
  std::string text = fmt::format("constexpr int64_t BLOCK = VLEN;\nconstexpr bool FINISH_VECTORS = {};\n", vectors.has_value());
  text += std::string(cpu_text("vector_math.h")) + vectors.value_or("") + emit_prefetch_extras(p, 2);
  text += "static inline lanes finish_lanes(lanes sum, const void* const* in, int64_t batch, int64_t m, int64_t n) {\n";
  text += vectors ? fmt::format("{}  return vector_epilogue(sum, in{});\n}}\n", scale, indices) : "  return sum;\n}\n";
  return text + "static inline void prefetch_for_finish(const void* const* in, int64_t batch, int64_t m, int64_t n) {\n" +
         fmt::format("  prefetch_extras(in{});\n}}\n", indices);
}

// The same of sums of bytes, where it has that form.
std::string finish_bytes(const Problem& p, const std::string& indices) {
  const auto vectors = p.out[0].strides.back() == 1 ? emit_byte_epilogue(p, 2) : std::nullopt;
  if (!vectors) return "";
  return std::string(cpu_text("byte_vectors.h")) + *vectors +
         fmt::format(
             "INLINE RowValues values_of_row(const void* const* in, int64_t batch, int64_t m) {{\n  const int64_t n = 0;\n  return row_values(in{0});\n}}\n"
             "INLINE auto finish_sums(Ints sum, const RowValues& row, const void* const* in, int64_t batch, int64_t m, int64_t n) {{\n  return "
             "finish_vector(sum, row, "
             "in{0});\n}}\n",
             indices);
}

std::string MatmulOnCpu::source(const Variant& variant, const DeviceInfo& device) const {
  const Problem& p = variant.problem;
  const Access &a = p.in[0], &b = p.in[1], &c = p.out[0];
  const MatmulSizes s = MatmulSizes::of(p);
  const size_t rank = c.shape.size();
  const DType acc = accumulator_of(a.dtype);
  const bool with_epilogue = has_epilogue(p);
  const double alpha = MatmulParams::of(p).alpha;
  const bool same_c = c.dtype == acc;
  const bool of_transpose = !multiplies_in_bf16(p) && strassen_levels(p) == 0 && variant.knobs.at("GEMV") && BlockedProduct(p, device).has_few_columns();

  std::string text = "// matmul " + fmt::format("{}x{}x{}x{}\n", s.batch, s.m, s.n, s.k);
  text += gemm_types(acc, {a.dtype, b.dtype, c.dtype});
  text += fmt::format("typedef {} A_T;\ntypedef {} B_T;\ntypedef {} C_T;\n", storage_type(a.dtype), storage_type(b.dtype), storage_type(c.dtype));
  const auto constant = [&](const char* name, int64_t value) { text += fmt::format("constexpr int64_t {} = {};\n", name, value); };
  const auto matrix = [&](const std::string& name, const Access& of, bool transposed) {
    constant((name + "_OFFSET").c_str(), of.offset);
    constant((name + "_ROW").c_str(), of.strides[rank - (transposed ? 1 : 2)]), constant((name + "_COL").c_str(), of.strides[rank - (transposed ? 2 : 1)]);
  };
  constant("BATCH", s.batch), constant("M", of_transpose ? s.n : s.m), constant("N", of_transpose ? s.m : s.n), constant("K", s.k);
  matrix("A", of_transpose ? b : a, of_transpose), matrix("B", of_transpose ? a : b, of_transpose), matrix("C", c, of_transpose);
  constant("THREADS", p.threads);
  for (const auto& [name, value] : variant.knobs) constant(name.c_str(), value);
  const bool b_batched = std::any_of(b.strides.begin(), b.strides.end() - 2, [](int64_t stride) { return stride != 0; });
  text += fmt::format("constexpr bool B_BATCHED = {}, SAME_C = {}, FINISH = {};\n", b_batched, same_c, with_epilogue || alpha != 1);
  text += batch_offset("a_batch", a, rank - 2) + batch_offset("b_batch", b, rank - 2) + batch_offset("c_batch", c, rank - 2);

  if (with_epilogue) text += std::string(cpu_text("scalar_math.h")) + emit_epilogue(p, 2);
  const std::string scale = alpha != 1 ? fmt::format("  sum *= ACC({});\n", double_text(alpha)) : "", indices = batch_indices(c.shape, rank - 2) + ", m, n";
  text += "static inline C_T finish(ACC sum, const void* const* in, int64_t batch, int64_t m, int64_t n) {\n" + scale;
  text += with_epilogue ? fmt::format("  return epilogue(sum, in{});\n}}\n", indices) : "  return from_acc(sum);\n}\n";
  text += gemm_schedule(variant) + std::string(cpu_text("sizes.h"));
  if (multiplies_in_bf16(p)) text += cpu_text("bf16.h");
  if (multiplies_in_bf16(p) && are_of_tiles(variant.knobs)) return text + std::string(cpu_text("matmul_bf16.cpp"));
  if (multiplies_in_bf16(p)) text += "#define PAIRS_OF_BF16\n";
  if (multiplies_bytes(p)) text += byte_products_text(variant.knobs.at("K_STEPS"), device);
  text += cpu_text("gemm_tile.h");
  if (strassen_levels(p) > 0) return text + finish_in_registers(p, scale, indices) + strassen_text(variant);
  if (variant.knobs.at("GEMV"))
    return text + fmt::format("constexpr int IN_A = {}, IN_B = {};\n", of_transpose ? 1 : 0, of_transpose ? 0 : 1) + std::string(cpu_text("matmul_gemv.cpp"));
  text += inputs_text(p);
  text += finish_in_registers(p, scale, indices);
  if (multiplies_bytes(p)) text += finish_bytes(p, indices);
  return text + std::string(cpu_text("matmul.cpp"));
}

}  // namespace

const KernelImplementation* matmul_on_cpu() {
  static const MatmulOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
