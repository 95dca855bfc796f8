#include "plan/quantized_programs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace amdahl {
namespace {

// x / s that is rounded to an integer next, where s is read (not computed): x times the reciprocal of s.
void with_reciprocals(PointwiseProgram& program) {
  const PointwiseProgram before = program;
  program.ops.clear();
  std::vector<int> number(static_cast<size_t>(before.inputs));
  std::iota(number.begin(), number.end(), 0);
  const auto add = [&](PointwiseOp op) {
    program.ops.push_back(std::move(op));
    return program.inputs + static_cast<int>(program.ops.size()) - 1;
  };
  for (size_t k = 0; k < before.ops.size(); ++k) {
    PointwiseOp op = before.ops[k];
    const int value = before.inputs + static_cast<int>(k);
    const bool is_rounded = std::any_of(before.ops.begin(), before.ops.end(), [&](const PointwiseOp& o) { return o.op == "round" && o.args[0] == value; });
    const bool by_reciprocal = op.op == "div" && op.type == DType::kF32 && is_rounded && op.args[1] < before.inputs;
    for (int& arg : op.args) arg = number[static_cast<size_t>(arg)];
    if (by_reciprocal) {
      op.args[1] = add({"reciprocal", {op.args[1]}, DType::kF32});
      op.op = "mul";
    }
    number.push_back(add(std::move(op)));
  }
  for (int& result : program.results) result = number[static_cast<size_t>(result)];
}

// Numbers that were rounded and clipped to bytes are floats still: to make bytes and floats of them again takes as long as all the rest. A NaN, of which a byte
// makes 0, stays one.
void leave_rounded_floats(PointwiseProgram& program) {
  const auto op_of = [&](int value) { return value < program.inputs ? nullptr : &program.ops[static_cast<size_t>(value - program.inputs)]; };
  const auto is_rounded = [&](int value, DType type) {
    const PointwiseOp* clip = op_of(value);
    if (!clip || clip->op != "clip" || clip->type != DType::kF32) return false;
    const PointwiseOp *least = op_of(clip->args[1]), *greatest = op_of(clip->args[2]);
    const auto [low, high] = type == DType::kU8 ? std::pair(0.0, 255.0) : std::pair(-128.0, 127.0);
    if (!least || !greatest || least->op != "const" || greatest->op != "const" || least->imm != low || greatest->imm != high) return false;
    const PointwiseOp* x = op_of(clip->args[0]);
    if (x && x->op == "add") x = op_of(x->args[0]);  // a zero point, which is an integer
    return x && x->op == "round";
  };
  std::map<int, int> same;
  for (size_t k = 0; k < program.ops.size(); ++k) {
    PointwiseOp& op = program.ops[k];
    for (int& arg : op.args)
      if (const auto at = same.find(arg); at != same.end()) arg = at->second;
    const PointwiseOp* byte = op.op == "cast" && op.type == DType::kF32 ? op_of(op.args[0]) : nullptr;
    if (byte && byte->op == "cast" && is_byte(byte->type) && is_rounded(byte->args[0], byte->type)) same[program.inputs + static_cast<int>(k)] = byte->args[0];
  }
  for (int& result : program.results)
    if (const auto at = same.find(result); at != same.end()) result = at->second;
}

}  // namespace

PointwiseProgram shortened_quantizations(PointwiseProgram program) {
  leave_rounded_floats(program);
  with_reciprocals(program);
  return program;
}

}  // namespace amdahl
