// How a CPU computes the pointwise kind (starter_kernels/kinds/pointwise.cc).

#include "starter_kernels/kinds/pointwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/kinds/accesses.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// Elements of a task. GRAIN 0 is an equal share for each thread, in whole cache lines.
int64_t task_size(const Problem& problem, int64_t grain) {
  const int64_t n = numel(problem.out[0].shape);
  const int64_t size = grain > 0 ? grain : (n + problem.threads - 1) / problem.threads;
  return std::max<int64_t>(64, (size + 63) / 64 * 64);
}

std::string row_text(const Problem& problem, const IndexSpace& space, const Knobs& knobs) {
  const PointwiseProgram program = PointwiseParams::of(problem).program;
  const size_t rank = space.dims.size(), outer = rank ? rank - 1 : 0;
  const auto stride_inside = [&](size_t operand) { return rank ? space.strides[operand].back() : 0; };
  const auto element = [&](size_t operand, const std::string& name) {
    const int64_t s = stride_inside(operand);
    return s == 1 ? fmt::format("{}[j]", name) : fmt::format("{}[j * {}]", name, s);
  };
  const auto outside = [&](size_t operand) {
    const Shape& s = space.strides[operand];
    return offset_text(Shape(s.begin(), s.begin() + static_cast<int64_t>(outer)), 0, space.offsets[operand]);
  };

  std::string text = "static inline void run_row(const void* const* in, void* const* out, int64_t row, int64_t begin, int64_t end) {\n";
  text += unflatten_text("row", Shape(space.dims.begin(), space.dims.begin() + static_cast<int64_t>(outer)), 0, "  ");
  std::string args;
  for (size_t k = 0; k < problem.in.size(); ++k) {
    const std::string type = c_type(problem.in[k].dtype), name = fmt::format("in{}", k);
    if (stride_inside(k) == 0) {  // one value for the whole row
      text += fmt::format("  const {} x{} = {};\n", register_type(problem.in[k].dtype), k,
                          load_text(problem.in[k].dtype, fmt::format("((const {}*)in[{}])[{}]", type, k, outside(k))));
      args += fmt::format("{}x{}", k ? ", " : "", k);
    } else {
      text += fmt::format("  const {0}* __restrict {1} = (const {0}*)in[{2}] + {3};\n", type, name, k, outside(k));
      args += (k ? ", " : "") + load_text(problem.in[k].dtype, element(k, name));
    }
  }
  const bool stream = knobs.at("STREAM") != 0;
  for (size_t r = 0; r < problem.out.size(); ++r) {
    const size_t operand = problem.in.size() + r;
    text += fmt::format("  {0}* __restrict out{1} = ({0}*)out[{1}] + {2};\n", c_type(problem.out[r].dtype), r, outside(operand));
  }
  std::string store;
  const bool single = program.results.size() == 1;
  for (size_t r = 0; r < problem.out.size(); ++r) {
    const DType type = type_of_value(program, program.results[r]);
    if (!single) {
      store += fmt::format("{} r{}; ", register_type(type), r);
      args += fmt::format("{}&r{}", args.empty() ? "" : ", ", r);
    }
  }
  if (!single) store += fmt::format("program({}); ", args);
  for (size_t r = 0; r < problem.out.size(); ++r) {
    const std::string value = single ? fmt::format("program({})", args) : fmt::format("r{}", r);
    const std::string place = stream ? fmt::format("piece{}[j - at]", r) : element(problem.in.size() + r, fmt::format("out{}", r));
    store += fmt::format("{} = {}; ", place, store_text(problem.out[r].dtype, value));
  }
  // `omp simd` and an unroll pragma do not go on one loop; without aliasing (restrict) ivdep says as much.
  const int64_t unroll = knobs.at("UNROLL");
  const std::string pragma = unroll > 1 ? fmt::format("#pragma GCC ivdep\n#pragma GCC unroll {}\n", unroll) : "#pragma omp simd\n";
  if (!stream) {
    text += fmt::format("{}  for (int64_t j = begin; j < end; ++j) {{ {}}}\n", pragma, store);
  } else {
    // Results are gathered in L1 and leave as whole lines.
    constexpr int kPiece = 512;
    for (size_t r = 0; r < problem.out.size(); ++r) text += fmt::format("  alignas(64) {} piece{}[{}];\n", c_type(problem.out[r].dtype), r, kPiece);
    text += fmt::format("  for (int64_t at = begin; at < end; at += {0}) {{\n    const int64_t stop = end - at < {0} ? end : at + {0};\n", kPiece);
    text += fmt::format("{}    for (int64_t j = at; j < stop; ++j) {{ {}}}\n", pragma, store);
    for (size_t r = 0; r < problem.out.size(); ++r)
      text += fmt::format("    stream_copy(out{0} + at, piece{0}, (stop - at) * sizeof({1}));\n", r, c_type(problem.out[r].dtype));
    text += "  }\n";
  }
  return text + "}\n";
}

// Every output written along consecutive addresses: what streaming stores need.
bool outputs_are_contiguous(const Problem& problem) {
  const IndexSpace space = collapse(problem);
  for (size_t r = 0; r < problem.out.size(); ++r)
    if (space.dims.empty() || space.strides[problem.in.size() + r].back() != 1) return false;
  return true;
}

class PointwiseOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kPointwise; }

  SearchSpace space(const Problem& logical, const DeviceInfo& device) const override {
    const Problem problem = stored_in_blocks(logical);
    const int64_t n = numel(problem.out[0].shape);
    // About 1 ns an element and operation for 16 lanes at memory speed; a team of threads costs some microseconds.
    const bool small = problem.threads == 1 || static_cast<double>(n) * (flops_of(PointwiseParams::of(problem).program) + 4) < 200e3;
    Knob grain{"GRAIN", {0}, small ? std::max<int64_t>(n, 64) : 0, "elements a task; 0: an equal share for each thread"};
    for (int64_t g : {4096, 16384, 65536})
      if (g < n) grain.values.push_back(g);
    grain.values.push_back(std::max<int64_t>(n, 64));
    Knob stream{"STREAM", {0}, 0, "1: stores bypass the caches"};
    if (outputs_are_contiguous(problem)) stream.values.push_back(1);
    return {{grain, stream, {"UNROLL", {1, 2, 4}, 1, "vectors in flight"}, vector_bits_knob(device)}, [](const Knobs&) { return std::string(); }};
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem problem = stored_in_blocks(variant.problem);
    const IndexSpace space = collapse(problem);
    const int64_t n = space.points();
    const int64_t cols = n == 0 ? 1 : space.dims.empty() ? 1 : space.dims.back();
    const int64_t size = task_size(problem, variant.knobs.at("GRAIN"));
    const std::string sizes = fmt::format("constexpr int64_t ROWS = {}, COLS = {}, TASK_SIZE = {}, TASKS = {};\n", n / cols, cols, size, (n + size - 1) / size);
    return join_text({opening_text(variant), sizes, streaming_text(variant.knobs), emit_program(PointwiseParams::of(problem).program, "program"),
                      row_text(problem, space, variant.knobs), std::string(cpu_text("as_it_comes.h")), std::string(cpu_text("pointwise.cpp"))});
  }
};

}  // namespace

const KernelImplementation* pointwise_on_cpu() {
  static const PointwiseOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
