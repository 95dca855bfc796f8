#include "starter_kernels/text/row_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {

RowSpace::RowSpace(const Shape& shape, const std::vector<bool>& reduced, const std::vector<Access>& operands, bool has_column_mode) {
  strides_.resize(operands.size());
  for (const Access& a : operands) offsets_.push_back(a.offset);
  std::vector<bool> flags;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    bool merge = !dims_.empty() && flags.back() == reduced[d];
    for (size_t k = 0; merge && k < operands.size(); ++k) merge = strides_[k].back() == operands[k].strides[d] * shape[d];
    if (merge) dims_.back() *= shape[d];
    else dims_.push_back(shape[d]), flags.push_back(reduced[d]);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (merge) strides_[k].back() = operands[k].strides[d];
      else strides_[k].push_back(operands[k].strides[d]);
    }
  }
  // There is always a reduced dimension, of one element if need be.
  if (std::find(flags.begin(), flags.end(), true) == flags.end()) {
    const bool empty = numel(shape) == 0 && dims_.empty();
    dims_.push_back(empty ? 0 : 1), flags.push_back(true);
    for (Shape& s : strides_) s.push_back(0);
  }
  const auto rank = static_cast<int>(dims_.size());
  for (int d = 0; d < rank; ++d)
    if (flags[static_cast<size_t>(d)]) j_ = d;
  k_ = rank - 1;
  const bool column_mode = has_column_mode && !flags[static_cast<size_t>(k_)] && dims_[static_cast<size_t>(j_)] > 1;
  for (int d = 0; d < rank; ++d) {
    const int64_t n = dims_[static_cast<size_t>(d)];
    if (d == j_) along = n;
    else if (column_mode && d == k_) columns = n;
    else if (flags[static_cast<size_t>(d)]) r_.push_back(d), outer *= n;
    else o_.push_back(d), rows *= n;
  }
}

std::string RowSpace::sizes_text() const { return fmt::format("constexpr int64_t O = {}, R = {}, J = {}, K = {};\n", rows, outer, along, columns); }

std::string RowSpace::index_text() const {
  std::string text;
  for (const auto& [name, members] : {std::pair{'o', &o_}, std::pair{'r', &r_}}) {
    int64_t stride = 1;
    for (int d : *members) stride *= dims_[static_cast<size_t>(d)];
    for (size_t m = 0; m < members->size(); ++m) {
      const int64_t n = dims_[static_cast<size_t>((*members)[m])];
      stride /= std::max<int64_t>(n, 1);
      std::string value = stride > 1 ? fmt::format("{} / {}", name, stride) : std::string(1, name);
      if (m > 0) value = fmt::format("({}) % {}", value, n);
      text += fmt::format("  const int64_t i{} = {};\n", (*members)[m], value);
    }
  }
  return text;
}

std::string RowSpace::at_text(size_t operand) const {
  std::string text = offsets_[operand] ? std::to_string(offsets_[operand]) : "";
  for (size_t d = 0; d < dims_.size(); ++d) {
    const int64_t s = strides_[operand][d];
    if (s == 0) continue;
    const int dim = static_cast<int>(d);
    const std::string name = dim == j_ ? "j" : columns != 1 && dim == k_ ? "k" : fmt::format("i{}", d);
    if (!text.empty()) text += " + ";
    text += s == 1 ? name : fmt::format("{} * {}", name, s);
  }
  return text.empty() ? "0" : text;
}

int64_t RowSpace::even(size_t operand) const {
  int64_t even = offsets_[operand];
  for (size_t d = 0; d < dims_.size(); ++d)
    if (static_cast<int>(d) != j_) even = std::gcd(even, strides_[operand][d]);
  return even;
}

DType row_type(const Problem& problem) {
  DType type = problem.in[0].dtype;
  if (const auto program = prologue_of(problem)) type = type_of_value(*program, program->results[0]);
  return is_float(type) && type != DType::kF64 ? DType::kF32 : type;
}

namespace {

constexpr const char* kInline = "static inline __attribute__((always_inline))";
constexpr const char* kIndices = "int64_t o, int64_t r, int64_t j, int64_t k";

std::string element(const Problem& problem, const RowSpace& space, size_t number, size_t operand) {
  const Access& a = problem.in[number];
  return load_text(a.dtype, fmt::format("((const {}*)in[{}])[{}]", c_type(a.dtype), number, space.at_text(operand)));
}

}  // namespace

std::string input_text(const Problem& problem, const RowSpace& space) {
  const std::optional<PointwiseProgram> program = prologue_of(problem);
  std::string text = fmt::format("typedef {} real;\n", register_type(row_type(problem)));
  if (program) text += emit_program(*program, "prologue");
  std::string value;
  for (size_t k = 0; k < prologue_inputs(problem); ++k) value += (k ? ", " : "") + element(problem, space, k, k);
  if (program) value = "prologue(" + value + ")";
  std::vector<std::string> addresses;
  for (size_t k = 0; k < problem.in.size(); ++k) addresses.push_back(fmt::format("in[{}]", k));
  // In a simd loop with a reduction GCC takes in[0] for another address at every element, and gathers what is a row: 5 times slower.
  text += fmt::format(
      "struct Held {{ const void* at[{}]; }};  // the operands' addresses, in registers\n"
      "{} Held held(const void* const* in) {{ return {{{{{}}}}}; }}\n",
      addresses.size(), kInline, fmt::join(addresses, ", "));
  return text + fmt::format("{} real input(const void* const* in, {}) {{\n{}  return {};\n}}\n", kInline, kIndices, space.index_text(), value);
}

std::string operand_text(const Problem& problem, const RowSpace& space, const std::string& name, int number, size_t operand, const std::string& absent) {
  if (number < 0) return fmt::format("{} real {}(const void* const*, int64_t, int64_t, int64_t, int64_t) {{ return {}; }}\n", kInline, name, absent);
  return fmt::format("{} real {}(const void* const* in, {}) {{\n{}  return {};\n}}\n", kInline, name, kIndices, space.index_text(),
                     element(problem, space, static_cast<size_t>(number), operand));
}

std::string place_text(const RowSpace& space, const std::string& name, size_t operand) {
  return fmt::format("{} int64_t {}({}) {{\n{}  return {};\n}}\n", kInline, name, kIndices, space.index_text(), space.at_text(operand));
}

std::string finish_text(const Problem& problem, const RowSpace& space, size_t base, size_t first_extra) {
  const DType out = problem.out[0].dtype;
  const std::optional<PointwiseProgram> program = epilogue_of(problem);
  std::string text = fmt::format("typedef {} out_t;\n", c_type(out)), value = "value";
  if (program) {
    text += emit_program(*program, "epilogue_program");
    value = "epilogue_program(value";
    for (size_t k = base; k < problem.in.size(); ++k) value += ", " + element(problem, space, k, first_extra + k - base);
    value += ")";
  }
  return text + fmt::format("{} out_t finish(real value, const void* const* in, {}) {{\n{}  return {};\n}}\n", kInline, kIndices,
                            program ? space.index_text() : "", store_text(out, value));
}

}  // namespace amdahl
