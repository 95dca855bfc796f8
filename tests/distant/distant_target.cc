#include "tests/distant/distant_target.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/hash.h"
#include "base/subprocess.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/matmul.h"
#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/softmax.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"
#include "starter_kernels/toolchain/object_code.h"

namespace amdahl::testing {
namespace {

constexpr const char* kOpening = R"(#include <math.h>
#include <stddef.h>
#include <stdint.h>
namespace scalar {
static inline float relu(float x) { return x > 0 || x != x ? x : 0; }
}
extern "C" size_t amdahl_workspace_bytes(void) { return 0; }
extern "C" size_t amdahl_packed_bytes(int) { return 0; }
extern "C" void amdahl_pack(int, const void*, void*) {}
)";
constexpr const char* kRun = "extern \"C\" void amdahl_run(const void* const* in, void* const* out, void*) {\n";

bool are_floats(const Problem& problem) {
  for (const auto* side : {&problem.in, &problem.out})
    for (const Access& a : *side)
      if (a.dtype != DType::kF32) return false;
  return true;
}

// Float alone, and no more of a kind than `takes` says.
SearchSpace space_of(std::vector<Knob> knobs, bool takes) {
  return {std::move(knobs), [takes](const Knobs&) { return std::string(takes ? "" : "the distant device has no kernel for this"); }, {}};
}

// One matrix times another; sums are made in several variables, added at the end.
class Matmul : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kMatmul; }
  SearchSpace space(const Problem& p, const DeviceInfo&) const override {
    return space_of({{"UNROLL_K", {1, 2, 4, 8}, 1, "steps of K a turn of the inner loop"}},
                    are_floats(p) && MatmulSizes::of(p).batch == 1 && MatmulParams::of(p).alpha == 1 && declared_algorithm(p).empty());
  }
  std::string source(const Variant& v, const DeviceInfo&) const override {
    const Problem& p = v.problem;
    const Access &a = p.in[0], &b = p.in[1], &c = p.out[0];
    const MatmulSizes s = MatmulSizes::of(p);
    const size_t rank = c.shape.size();
    const int64_t unroll = v.knobs.at("UNROLL_K");
    const auto step = [&](int64_t sum, const std::string& k) {
      return fmt::format("      sum{} += a[{} + i * {} + ({}) * {}] * b[{} + ({}) * {} + j * {}];\n", sum, a.offset, a.strides[rank - 2], k,
                         a.strides[rank - 1], b.offset, k, b.strides[rank - 2], b.strides[rank - 1]);
    };
    std::string sums, steps, total;
    for (int64_t u = 0; u < unroll; ++u) {
      sums += fmt::format("    float sum{} = 0;\n", u);
      steps += step(u, fmt::format("k + {}", u));
      total += (u ? " + " : "") + fmt::format("sum{}", u);
    }
    std::string indices;
    for (size_t d = 0; d + 2 < rank; ++d) indices += ", 0";
    return fmt::format(
        "{}{}{}  const float *a = (const float*)in[0], *b = (const float*)in[1];\n  float* c = (float*)out[0] + {};\n"
        "  for (int64_t i = 0; i < {}; ++i) for (int64_t j = 0; j < {}; ++j) {{\n{}    int64_t k = 0;\n    for (; k + {} <= {}; k += {}) {{\n{}    }}\n"
        "    for (; k < {}; ++k) {{\n{}    }}\n    c[i * {} + j * {}] = epilogue({}, in{}, i, j);\n  }}\n}}\n",
        kOpening, emit_epilogue(p, 2), kRun, c.offset, s.m, s.n, sums, unroll, s.k, unroll, steps, s.k, step(0, "k"), c.strides[rank - 2], c.strides[rank - 1],
        total, indices);
  }
};

class Pointwise : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPointwise; }
  SearchSpace space(const Problem& p, const DeviceInfo&) const override { return space_of({}, are_floats(p) && p.out.size() == 1); }
  std::string source(const Variant& v, const DeviceInfo&) const override {
    const Problem& p = v.problem;
    std::vector<const Access*> operands;
    for (const Access& a : p.in) operands.push_back(&a);
    operands.push_back(&p.out[0]);
    const IndexSpace s = collapse(p.out[0].shape, operands);
    const auto element = [&](size_t k, const std::string& base) { return fmt::format("((float*){})[{}]", base, offset_text(s.strides[k], 0, s.offsets[k])); };
    std::string arguments;
    for (size_t k = 0; k < p.in.size(); ++k) arguments += (k ? ", " : "") + element(k, fmt::format("in[{}]", k));
    return fmt::format("{}{}{}  for (int64_t n = 0; n < {}; ++n) {{\n{}    {} = program({});\n  }}\n}}\n", kOpening,
                       emit_program(PointwiseParams::of(p).program, "program"), kRun, s.points(), unflatten_text("n", s.dims, 0, "    "),
                       element(p.in.size(), "out[0]"), arguments);
  }
};

// Along the last axis of what lies as it is written.
class Softmax : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kSoftmax; }
  SearchSpace space(const Problem& p, const DeviceInfo&) const override {
    const bool takes = are_floats(p) && p.in.size() == 1 && p.in[0].is_dense() && p.out[0].is_dense() && !SoftmaxParams::of(p).log && !has_prologue(p) &&
                       !has_epilogue(p) && static_cast<size_t>(SoftmaxParams::of(p).axis) + 1 == p.out[0].shape.size();
    return space_of({}, takes);
  }
  std::string source(const Variant& v, const DeviceInfo&) const override {
    const Shape& shape = v.problem.out[0].shape;
    return fmt::format("{}{}", kOpening, kRun) +
           fmt::format(
               "  for (int64_t r = 0; r < {0}; ++r) {{\n    const float* x = (const float*)in[0] + r * {1};\n    float* y = (float*)out[0] + r * {1};\n"
               "    float most = x[0], sum = 0;\n    for (int64_t i = 0; i < {1}; ++i) most = x[i] > most || x[i] != x[i] ? x[i] : most;\n"
               "    for (int64_t i = 0; i < {1}; ++i) sum += y[i] = expf(x[i] - most);\n    for (int64_t i = 0; i < {1}; ++i) y[i] /= sum;\n  }}\n}}\n",
               numel(shape) / shape.back(), shape.back());
  }
};

class DistantToolchain : public Toolchain {
 public:
  explicit DistantToolchain(std::string folder) : folder_(std::move(folder)) { std::filesystem::create_directories(folder_); }
  const Target& target() const override { return distant_target(); }
  const std::string& description() const override { return description_; }
  CompileResult compile(const Variant& variant, const CompileLimits& limits) const override {
    CompileResult result;
    const std::string text = target().source(variant), stem = folder_ + "/" + hash_hex(text);
    result.library = stem + ".so";
    result.ok = result.cached = std::filesystem::exists(result.library);
    if (result.ok) return result;
    const std::string made = fmt::format("{}.{}", result.library, hash_hex(variant.id()));  // others may be making the same
    std::ofstream(made + ".cpp") << text;
    const SubprocessResult run = run_subprocess({"g++", "-O0", "-shared", "-fPIC", "-o", made, made + ".cpp"}, {limits.seconds, limits.memory_bytes});
    result.seconds = run.seconds;
    result.ok = run.ok();
    if (result.ok) std::filesystem::rename(made, result.library);
    else result.code = "compile-error", result.message = run.output;
    return result;
  }
  bool has_layouts() const override { return false; }
  CompileResult compile_placebo(const Variant&, int, const CompileLimits&) const override {
    CompileResult result;
    result.code = kNoLayouts;
    return result;
  }
  std::string code_hash(const std::string& artifact) const override { return object_code_hash(artifact); }

 private:
  std::string folder_;
  std::string description_ = "g++ without optimisation";
};

}  // namespace

const Target& distant_target() {
  static const Matmul matmul;
  static const Pointwise pointwise;
  static const Softmax softmax;
  static const Target target = [] {
    DeviceInfo device;
    device.name = "distant";
    device.memory_bytes = int64_t{1} << 30;
    return Target{"distant", device, {&matmul, &pointwise, &softmax}};
  }();
  return target;
}

std::shared_ptr<const Toolchain> distant_toolchain(const std::string& folder) { return std::make_shared<const DistantToolchain>(folder); }

}  // namespace amdahl::testing
