// How a CPU computes the softmax kind (starter_kernels/kinds/softmax.cc).

#include "starter_kernels/kinds/softmax.h"

#include <fmt/format.h>

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
#include "starter_kernels/text/row_space.h"
#include "starter_kernels/text/row_spaces.h"

namespace amdahl {
namespace {

class SoftmaxOnCpu final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kSoftmax; }

  SearchSpace space(const Problem& problem, const DeviceInfo& device) const override {
    const RowSpace space = softmax_rows(problem);
    const int64_t chunks = space.columns > 1 ? (space.columns + 63) / 64 : 1;
    const double row = static_cast<double>(space.along) * (space.columns > 1 ? 64 : 1);
    SearchSpace s;
    s.knobs = {rows_knob(problem, space.rows * chunks, row * 1.5), vector_bits_knob(device)};
    if (space.columns == 1) {
      s.knobs.push_back({"ONLINE", {0, 1}, 0, "1: maximum and sum in one pass over the row"});
      if (space.is_contiguous(problem.in.size()) && size_of(problem.out[0].dtype) <= size_of(row_type(problem)))
        s.knobs.push_back({"STREAM", {0, 1}, 0, "1: the result bypasses the caches"});
    }
    s.refuse = [](const Knobs&) { return std::string(); };
    return s;
  }

  std::string source(const Variant& variant, const DeviceInfo&) const override {
    const Problem& problem = variant.problem;
    const RowSpace space = softmax_rows(problem);
    const auto knob = [&](const char* name) { return variant.knobs.count(name) ? variant.knobs.at(name) : 0; };
    const bool columns = space.columns > 1;
    const int64_t chunks = columns ? (space.columns + 63) / 64 : 1;
    const size_t base = prologue_inputs(problem);
    const bool in_place = problem.out[0].dtype == row_type(problem) && space.is_contiguous(problem.in.size()) && !knob("STREAM");
    const bool direct = !has_prologue(problem) && space.is_contiguous(0);
    const int64_t scratch = columns ? space.along * 64 : in_place ? 0 : space.along;
    const std::string choices = fmt::format(
        "typedef {} in_t;\n"
        "constexpr bool LOG = {}, ONLINE = {}, IN_PLACE = {}, DIRECT = {};\n"
        "constexpr int64_t COLUMN_CHUNKS = {};\n#define STREAM {}\n",
        c_type(problem.in[0].dtype), SoftmaxParams::of(problem).log, knob("ONLINE") != 0, in_place, direct, chunks, knob("STREAM"));
    return join_text({opening_text(variant), space.sizes_text(), choices, tasks_text(problem, variant.knobs, space.rows * chunks, scratch, row_type(problem)),
                      streaming_text(variant.knobs), input_text(problem, space), finish_text(problem, space, base, base), place_text(space, "from", 0),
                      place_text(space, "place", problem.in.size()), std::string(cpu_text("rows.h")), std::string(cpu_text("softmax.cpp"))});
  }
};

}  // namespace

const KernelImplementation* softmax_on_cpu() {
  static const SoftmaxOnCpu implementation;
  return &implementation;
}

}  // namespace amdahl
