// How a CPU computes the movement kind (starter_kernels/kinds/movement.cc).

#include "starter_kernels/kinds/movement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device_info.h"
#include "starter_kernels/cpu/cpu_kernels.h"
#include "starter_kernels/cpu/cpu_text.h"
#include "starter_kernels/cpu/prelude.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"
#include "starter_kernels/text/copy_loops.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

int64_t elements_written(const Problem& problem) {
  int64_t n = 0;
  for (const Access& a : problem.out) n += numel(a.shape);
  return n;
}

// A team of threads is worth it from some 100 KB on.
bool is_small(const Problem& problem) {
  return problem.threads == 1 || elements_written(problem) * static_cast<int64_t>(size_of(problem.out[0].dtype)) < 128 << 10;
}

int64_t task_size(const Problem& problem, int64_t grain, int64_t points) {
  const int64_t share = is_small(problem) ? points : (points + problem.threads - 1) / problem.threads;
  return std::max<int64_t>(64, ((grain > 0 ? grain : share) + 63) / 64 * 64);
}

struct Emitted {
  std::string text;  // a function NAME(in, out, task)
  int64_t tasks = 0;
};

Emitted emit_transpose(const Problem& problem, const StridedCopy& copy, const CopyLoops& loops, const std::string& name, int64_t block) {
  const IndexSpace& s = loops.space;
  const auto along = static_cast<size_t>(loops.along);
  const std::string type = bits_type(problem.out[static_cast<size_t>(copy.out)].dtype);
  const int64_t rows = s.dims[along], step = std::max<int64_t>(block, 8), pieces = (rows + step - 1) / step;
  Shape outer = s.dims, in_strides = s.strides[0], out_strides = s.strides[1];
  outer.pop_back();
  in_strides.pop_back();
  out_strides.pop_back();
  // The row dimension becomes the number of a block of rows.
  outer[along] = pieces;
  in_strides[along] = out_strides[along] = 0;
  std::string text = fmt::format("static inline void {}(const void* const* in, void* const* out, int64_t task) {{\n", name);
  text += unflatten_text("task", outer, 0, "  ");
  text += fmt::format("  const {0}* from = (const {0}*)in[{1}] + {2};\n", type, copy.in, offset_text(in_strides, 0, s.offsets[0]));
  text += fmt::format("  {0}* to = ({0}*)out[{1}] + {2};\n", type, copy.out, offset_text(out_strides, 0, s.offsets[1]));
  text += fmt::format("  const int64_t begin = i{0} * {1}, end = begin + {1} < {2} ? begin + {1} : {2};\n", along, step, rows);
  text += fmt::format("  transpose_rows<{}, {}>(from, {}, to, {}, begin, end);\n}}\n", block, s.dims.back(), s.strides[0].back(), s.strides[1][along]);
  return {text, numel(outer)};
}

Emitted emit_rows(const Problem& problem, const StridedCopy& copy, const CopyLoops& loops, const std::string& name, const Knobs& knobs, uint64_t fill) {
  const IndexSpace& s = loops.space;
  const std::string type = bits_type(problem.out[static_cast<size_t>(copy.out)].dtype);
  const size_t outer = s.dims.empty() ? 0 : s.dims.size() - 1;
  const int64_t cols = s.dims.empty() ? 1 : s.dims.back(), total = s.points();
  const int64_t from_step = s.dims.empty() ? 0 : s.strides[0].back(), to_step = s.dims.empty() ? 1 : s.strides[1].back();
  const int64_t size = task_size(problem, knobs.at("GRAIN"), total);
  const auto outside = [&](size_t k) { return offset_text(Shape(s.strides[k].begin(), s.strides[k].begin() + static_cast<int64_t>(outer)), 0, s.offsets[k]); };
  std::string text = fmt::format("static inline void {}(const void* const* in, void* const* out, int64_t task) {{\n", name);
  text += fmt::format("  for_rows<{}, {}, {}>(task, [&](int64_t row, int64_t begin, int64_t end) {{\n", cols, total, size);
  text += unflatten_text("row", Shape(s.dims.begin(), s.dims.begin() + static_cast<int64_t>(outer)), 0, "    ");
  if (copy.in >= 0) text += fmt::format("    const {0}* __restrict from = (const {0}*)in[{1}] + {2};\n", type, copy.in, outside(0));
  text += fmt::format("    {0}* __restrict to = ({0}*)out[{1}] + {2};\n", type, copy.out, outside(1));
  if (knobs.at("STREAM") && copy.in >= 0 && from_step == 1 && to_step == 1) {
    text += fmt::format("    stream_copy(to + begin, from + begin, (end - begin) * sizeof({}));\n", type);
  } else {
    const auto at = [](const char* pointer, int64_t step) {
      return step == 1 ? fmt::format("{}[j]", pointer) : step == 0 ? fmt::format("{}[0]", pointer) : fmt::format("{}[j * {}]", pointer, step);
    };
    const std::string value = copy.in >= 0 ? at("from", from_step) : fmt::format("({}){}ull", type, fill);
    text += fmt::format("#pragma omp simd\n    for (int64_t j = begin; j < end; ++j) {} = {};\n", at("to", to_step), value);
  }
  return {text + "  });\n}\n", (total + size - 1) / size};
}

Emitted emit_gather(const Problem& problem, const GatherSizes& sizes, const Knobs& knobs) {
  const auto [outer, size, count, inner] = sizes;
  const std::string type = bits_type(problem.out[0].dtype), index = c_type(problem.in[1].dtype);
  const int64_t total = outer * count * inner, piece = task_size(problem, knobs.at("GRAIN"), total);
  std::string text = "static inline void copy0(const void* const* in, void* const* out, int64_t task) {\n";
  text += fmt::format("  const {}* __restrict indices = (const {}*)in[1];\n", index, index);
  // Single elements are picked in a vector loop over the indices, longer ones row by row.
  text += fmt::format("  for_rows<{}, {}, {}>(task, [&](int64_t row, int64_t begin, int64_t end) {{\n", inner == 1 ? count : inner, total, piece);
  if (inner == 1) {
    text += fmt::format("    const {0}* __restrict from = (const {0}*)in[0] + row * {1};\n", type, size);
    text += fmt::format("    {0}* __restrict to = ({0}*)out[0] + row * {1};\n", type, count);
    text += fmt::format("#pragma omp simd\n    for (int64_t j = begin; j < end; ++j) to[j] = from[index_within(indices[j], {})];\n", size);
  } else {
    text += fmt::format("    const int64_t o = row / {0}, i = row % {0};\n", count);
    text += fmt::format("    const {0}* __restrict from = (const {0}*)in[0] + (o * {1} + index_within(indices[i], {1})) * {2};\n", type, size, inner);
    text += fmt::format("    {0}* __restrict to = ({0}*)out[0] + row * {1};\n", type, inner);
    text += knobs.at("STREAM") ? fmt::format("    stream_copy(to + begin, from + begin, (end - begin) * sizeof({}));\n", type)
                               : "#pragma omp simd\n    for (int64_t j = begin; j < end; ++j) to[j] = from[j];\n";
  }
  return {text + "  });\n}\n", (total + piece - 1) / piece};
}

class MovementOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kMovement; }

  SearchSpace space(const Problem& problem, const DeviceInfo&) const override {
    const int64_t n = elements_written(problem);
    Knob grain{"GRAIN", {0}, 0, "elements a task; 0: an equal share for each thread, one task when small"};
    for (int64_t g : {4096, 32768, 262144})
      if (g < n) grain.values.push_back(g);
    SearchSpace s;
    s.knobs = {grain, {"STREAM", {0, 1}, 0, "1: rows bypass the caches"}};
    if (has_transpose(problem)) s.knobs.push_back({"BLOCK", {0, 8, 16, 32, 64}, 16, "edge of a transpose's blocks; 0: plain loop"});
    s.refuse = [](const Knobs&) { return std::string(); };
    return s;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const Knobs& knobs = variant.knobs;
    std::vector<Emitted> copies;
    const MovementParams params = MovementParams::of(problem);
    if (params.gather) {
      copies.push_back(emit_gather(problem, *params.gather, knobs));
    } else {
      for (const StridedCopy& copy : copies_of(problem)) {
        if (numel(copy.shape) == 0) continue;
        const CopyLoops loops = CopyLoops::of(copy);
        const std::string name = fmt::format("copy{}", copies.size());
        copies.push_back(loops.along >= 0 && copy.in >= 0 ? emit_transpose(problem, copy, loops, name, knobs.at("BLOCK"))
                                                          : emit_rows(problem, copy, loops, name, knobs, params.fill.value_or(0)));
      }
    }
    int64_t tasks = 0;
    std::string functions, dispatch = "static void run_task(const void* const* in, void* const* out, int64_t task) {\n";
    for (size_t k = 0; k < copies.size(); ++k) {
      functions += copies[k].text;
      dispatch += fmt::format("  if (task < {}) return copy{}(in, out, task{});\n", tasks + copies[k].tasks, k, tasks ? fmt::format(" - {}", tasks) : "");
      tasks += copies[k].tasks;
    }
    const std::string sizes =
        fmt::format("constexpr int64_t TASKS = {};\nconstexpr bool PARALLEL = {};\n", tasks, tasks > 1 && (!is_small(problem) || knobs.at("GRAIN") > 0));
    return join_text({"#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n", fmt::format("constexpr int THREADS = {};\n", problem.threads), sizes,
                      streaming_text(knobs), std::string(cpu_text("as_it_comes.h")), std::string(cpu_text("movement.cpp")), functions, dispatch + "}\n"});
  }
};

}  // namespace

const KernelImplementation* movement_on_cpu() {
  static const MovementOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
