#include "starter_kernels/vector_epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "starter_kernels/pointwise.h"

namespace amdahl {
namespace {

const std::map<std::string, std::string, std::less<>> kForms{
    {"identity", "{0}"},
    {"add", "{0} + {1}"},
    {"sub", "{0} - {1}"},
    {"mul", "{0} * {1}"},
    {"neg", "-{0}"},
    {"relu", "larger(lanes{{}}, {0})"},
    {"clip", "smaller({2}, larger({1}, {0}))"},
};

std::optional<std::string> load_lanes(const Access& access, size_t input) {
  if (access.dtype != DType::kF32) return std::nullopt;
  const std::string first = emit_load(access, fmt::format("in[{}]", input), {"i0", "i1", "i2", "0"});
  if (access.strides[3] == 1) return fmt::format("*(const lanes*)&{}", first);
  if (access.strides[3] == 0) return "lanes{} + " + first;
  return std::nullopt;
}

std::optional<std::string> operation(const PointwiseOp& op, const std::vector<std::string>& values) {
  if (op.type != DType::kF32) return std::nullopt;
  if (op.op == "const") return fmt::format("lanes{{}} + ({:a}f)", static_cast<double>(static_cast<float>(op.imm)));
  const auto form = kForms.find(op.op);
  if (form == kForms.end()) return std::nullopt;
  std::vector<std::string> args;
  for (int a : op.args) args.push_back(values[static_cast<size_t>(a)]);
  args.resize(3);
  return fmt::format(fmt::runtime(form->second), args[0], args[1], args[2]);
}

}  // namespace

std::optional<std::string> emit_vector_epilogue(const Problem& blocks, size_t base) {
  PointwiseProgram program{1, {DType::kF32}, {}, {0}};
  if (blocks.params.contains("epilogue")) program = blocks.params.at("epilogue").get<PointwiseProgram>();
  if (blocks.out[0].dtype != DType::kF32) return std::nullopt;
  std::vector<std::string> values{"acc"};
  std::string body;
  const auto define = [&](const std::optional<std::string>& value) {
    if (!value) return false;
    body += fmt::format("  const lanes v{} = {};\n", values.size(), *value);
    values.push_back(fmt::format("v{}", values.size()));
    return true;
  };
  for (size_t k = base; k < blocks.in.size(); ++k)
    if (!define(load_lanes(blocks.in[k], k))) return std::nullopt;
  for (const PointwiseOp& op : program.ops)
    if (!define(operation(op, values))) return std::nullopt;
  return fmt::format(
      "static inline __attribute__((always_inline)) lanes vector_epilogue(lanes acc, const void* const* in, int64_t i0, int64_t i1, "
      "int64_t i2) {{\n{}  return {};\n}}\n",
      body, values.at(static_cast<size_t>(program.results[0])));
}

}  // namespace amdahl
