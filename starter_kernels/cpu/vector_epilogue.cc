#include "starter_kernels/cpu/vector_epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/text/number_text.h"
#include "starter_kernels/text/program_text.h"

namespace amdahl {
namespace {

const std::map<std::string, std::string, std::less<>> kForms{
    {"identity", "{0}"},
    {"add", "{0} + {1}"},
    {"sub", "{0} - {1}"},
    {"mul", "{0} * {1}"},
    {"div", "{0} / {1}"},
    {"neg", "-{0}"},
    {"relu", "larger(lanes{{}}, {0})"},
    {"clip", "smaller({2}, larger({1}, {0}))"},
    {"exp", "scalar::exp_of<wide, wide_bits>({0})"},
    {"sigmoid", "scalar::sigmoid_of<wide, wide_bits>({0})"},
    {"tanh", "scalar::tanh_of<wide, wide_bits>({0})"},
    {"erf", "scalar::erf_of<wide, wide_bits>({0})"},
    {"gelu", "scalar::gelu_of<wide, wide_bits>({0})"},
    {"gelu_tanh", "scalar::gelu_tanh_of<wide, wide_bits>({0})"},
    {"gelu_product", "scalar::gelu_product_of<wide, wide_bits>({0})"},
    {"gelu_tanh_product", "scalar::gelu_tanh_product_of<wide, wide_bits>({0})"},
    {"swish_product", "scalar::swish_product_of<wide, wide_bits>({0})"},
};

std::vector<std::string> index_names(const Problem& problem) {
  std::vector<std::string> names;
  for (size_t d = 0; d < problem.out[0].shape.size(); ++d) names.push_back(fmt::format("i{}", d));
  return names;
}

std::string index_parameters(const Problem& problem) {
  std::string text;
  for (const std::string& name : index_names(problem)) text += ", [[maybe_unused]] int64_t " + name;
  return text;
}

std::string load_first(const Problem& problem, size_t input) { return emit_load(problem.in[input], fmt::format("in[{}]", input), index_names(problem)); }

std::optional<std::string> load_lanes(const Problem& problem, size_t input) {
  const Access& access = problem.in[input];
  if (access.dtype != DType::kF32) return std::nullopt;
  const std::string first = load_first(problem, input);
  if (access.shape.back() == 1 || access.strides.back() == 0) return "lanes{} + " + first;
  if (access.strides.back() == 1) return fmt::format("*(const lanes*)&{}", first);
  return std::nullopt;
}

// A maximum or minimum of vectors takes its second operand where either is NaN: the clipped one. So that of a limit is chosen, unless the limit is known.
std::string with_nan_of_limits(std::string clipped, const PointwiseProgram& program, const PointwiseOp& op, const std::vector<std::string>& values) {
  for (size_t i : {2, 1}) {
    const int limit = op.args[i], k = limit - program.inputs;
    if (k >= 0 && program.ops[static_cast<size_t>(k)].op == "const" && !std::isnan(program.ops[static_cast<size_t>(k)].imm)) continue;
    const std::string& name = values[static_cast<size_t>(limit)];
    clipped = fmt::format("{0} == {0} ? {1} : {0}", name, clipped);
  }
  return clipped;
}

std::optional<std::string> operation(const PointwiseProgram& program, const PointwiseOp& op, const std::vector<std::string>& values) {
  if (op.type != DType::kF32) return std::nullopt;
  if (op.op == "const") return "lanes{} + " + float_text(op.imm);
  const auto form = kForms.find(op.op);
  if (form == kForms.end()) return std::nullopt;
  std::vector<std::string> args;
  for (int a : op.args) args.push_back(values[static_cast<size_t>(a)]);
  args.resize(3);
  const std::string text = fmt::format(fmt::runtime(form->second), args[0], args[1], args[2]);
  return op.op == "clip" ? with_nan_of_limits(text, program, op, values) : text;
}

}  // namespace

std::optional<std::string> emit_vector_epilogue(const Problem& problem, size_t base) {
  const PointwiseProgram program = epilogue_of(problem).value_or(PointwiseProgram{1, {DType::kF32}, {}, {0}});
  if (problem.out[0].dtype != DType::kF32 || program.input_types.at(0) != DType::kF32) return std::nullopt;
  std::vector<std::string> values{"acc"};
  std::string body;
  const auto define = [&](const std::optional<std::string>& value) {
    if (!value) return false;
    body += fmt::format("  const lanes v{} = {};\n", values.size(), *value);
    values.push_back(fmt::format("v{}", values.size()));
    return true;
  };
  for (size_t k = base; k < problem.in.size(); ++k)
    if (!define(load_lanes(problem, k))) return std::nullopt;
  for (const PointwiseOp& op : program.ops)
    if (!define(operation(program, op, values))) return std::nullopt;
  return fmt::format("static inline __attribute__((always_inline)) lanes vector_epilogue(lanes acc, const void* const* in{}) {{\n{}  return {};\n}}\n",
                     index_parameters(problem), body, values.at(static_cast<size_t>(program.results[0])));
}

std::string emit_prefetch_extras(const Problem& problem, size_t base) {
  std::string body;
  for (size_t k = base; k < problem.in.size(); ++k) {
    const Access& access = problem.in[k];
    const bool one_row = std::all_of(access.strides.begin(), access.strides.end() - 1, [](int64_t stride) { return stride == 0; });
    if (access.dtype == DType::kF32 && access.strides.back() == 1 && !one_row) body += fmt::format("  __builtin_prefetch(&{});\n", load_first(problem, k));
  }
  return fmt::format("static inline __attribute__((always_inline)) void prefetch_extras([[maybe_unused]] const void* const* in{}) {{\n{}}}\n",
                     index_parameters(problem), body);
}

}  // namespace amdahl
