#include "starter_kernels/cuda/adjacent_epilogue.h"

#include <fmt/format.h>

#include "starter_kernels/cuda/vector_access.h"
#include "starter_kernels/text/index_space.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

// Strides of which those of dimensions of one element are 0.
Shape strides_of(const Access& a) {
  Shape strides = a.strides;
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] == 1) strides[d] = 0;
  return strides;
}

// An extra input in a row: one element for all columns, adjacent ones that one load takes, or others.
class ExtraInput {
 public:
  ExtraInput(const Access& access, size_t number, int64_t adjacent) : a_(access), number_(number), adjacent_(adjacent), strides_(strides_of(access)) {
    if (strides_.back() == 0) count_ = 1;
    const bool wide = strides_.back() == 1 && vector_along(access, access.shape.size() - 1) % adjacent == 0;
    if (wide) load_ = adjacent;
  }

  std::string member() const { return fmt::format("  Vector<{}, {}> x{};\n", c_type(a_.dtype), count_for(adjacent_), number_); }
  std::string fetch() const {
    const std::string from = fmt::format("((const {}*)in[{}] + {})", c_type(a_.dtype), number_, offset_text(strides_, 0, a_.offset));
    if (count_ == 1) return fmt::format("  if (m < M) e.x{}.at[0] = *{};\n", number_, from);
    const std::string one_by_one =
        fmt::format("for (int j = 0; j < {0}; ++j)\n    if (m < M && n + j < N) e.x{1}.at[j] = {2}[j * {3}];\n", adjacent_, number_, from, strides_.back());
    if (load_ == 1) return "  " + one_by_one;
    return fmt::format("  if (m < M && n + {0} <= N) e.x{1} = load_vector<{0}>({2});\n  else {3}", adjacent_, number_, from, one_by_one);
  }
  std::string value() const { return load_text(a_.dtype, fmt::format("e.x{}.at[{}]", number_, count_ == 1 ? "0" : "j")); }

 private:
  int64_t count_for(int64_t adjacent) const { return count_ == 1 ? 1 : adjacent; }

  const Access& a_;
  size_t number_;
  int64_t adjacent_, count_ = 0, load_ = 1;
  Shape strides_;
};

}  // namespace

std::string adjacent_epilogue_text(const Problem& problem, size_t base, const Shape& batch, int64_t adjacent) {
  std::string members, fetches, arguments;
  for (size_t k = base; k < problem.in.size(); ++k) {
    const ExtraInput input(problem.in[k], k, adjacent);
    members += input.member();
    fetches += input.fetch();
    arguments += ", " + input.value();
  }
  const size_t rows = batch.size();
  const std::string value = has_epilogue(problem) ? fmt::format("epilogue_program(sum{})", arguments) : "sum";
  return fmt::format(
      "struct Extras {{\n{0}}};\nstatic inline Extras fetch_extras(const void* const* in, int64_t b, int64_t m, int64_t n) {{\n{1}  const int64_t i{2} = m, "
      "i{3} = "
      "n;\n  Extras e;\n{4}  return e;\n}}\nstatic inline out_t finish_of(sum_t sum, const Extras& e, int j) {{ return {5}; }}\n",
      members, unflatten_text("b", batch, 0, "  "), rows, rows + 1, fetches, store_text(problem.out[0].dtype, value));
}

}  // namespace amdahl
