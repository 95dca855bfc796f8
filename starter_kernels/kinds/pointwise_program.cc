#include "starter_kernels/kinds/pointwise.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

DType type_of_value(const PointwiseProgram& program, int value) {
  if (value < program.inputs) return program.input_types[static_cast<size_t>(value)];
  return program.ops[static_cast<size_t>(value - program.inputs)].type;
}

PointwiseProgram compose(const PointwiseProgram& outer, int slot, const PointwiseProgram& inner) {
  PointwiseProgram all;
  all.inputs = outer.inputs - 1 + inner.inputs;
  for (int i = 0; i < slot; ++i) all.input_types.push_back(outer.input_types[static_cast<size_t>(i)]);
  all.input_types.insert(all.input_types.end(), inner.input_types.begin(), inner.input_types.end());
  for (int i = slot + 1; i < outer.inputs; ++i) all.input_types.push_back(outer.input_types[static_cast<size_t>(i)]);

  const auto from_inner = [&](int v) { return v < inner.inputs ? slot + v : all.inputs + (v - inner.inputs); };
  const int inner_ops = static_cast<int>(inner.ops.size());
  const auto from_outer = [&](int v) {
    if (v == slot) return from_inner(inner.results.at(0));
    if (v < slot) return v;
    if (v < outer.inputs) return v - 1 + inner.inputs;
    return all.inputs + inner_ops + (v - outer.inputs);
  };
  for (PointwiseOp op : inner.ops) {
    for (int& a : op.args) a = from_inner(a);
    all.ops.push_back(std::move(op));
  }
  for (PointwiseOp op : outer.ops) {
    for (int& a : op.args) a = from_outer(a);
    all.ops.push_back(std::move(op));
  }
  for (int r : outer.results) all.results.push_back(from_outer(r));
  return all;
}

}  // namespace amdahl
