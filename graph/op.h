#pragma once
// What an operator is: what it may be given, a shape rule, a float64 value with an error bound, and what versions changed. One row of the op list
// (graph/ops/op_list.cc) an operator; conformance tests iterate over that list.
//
// The bound beside each float value says how far an honest fp32 computation of the same node from the same inputs may be:
// |computed - value| <= bound. Formulas are those of running error analysis with the probabilistic sqrt(K) growth (Higham
// & Mary 2019), u = 2^-24; an operator propagates the bounds of its inputs, so a window of any nodes has a derived bound.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace amdahl {

inline constexpr double kU32 = 0x1.0p-24;  // unit roundoff of fp32, round to nearest

// A tensor of the oracle. Floats live in `value` (+ `bound`, empty when bounds are not asked for: all zero); integers and
// bool in `ints`, exact (`bound` empty), except where floats with a bound decided them (comparisons, casts, ArgMax, TopK):
// then `bound` says how far each may be off, infinity when anything is possible.
struct RefTensor {
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<double> value;
  std::vector<double> bound;
  std::vector<int64_t> ints;
  // Read by further nodes of the window alone: what leaves its type here need not in another form of the same computation, and is open. An infinity that comes of
  // infinities, or of a division by zero, is one in every form.
  bool is_inside = false;
  int64_t shares_of = 0;  // quotients by sums of as many numbers of at most 1 (Softmax); 0: they are not. Kernels may weigh first and divide later

  int64_t numel() const { return amdahl::numel(shape); }
  bool is_float() const { return amdahl::is_float(dtype); }
  double bound_at(int64_t i) const { return bound.empty() ? 0.0 : bound[static_cast<size_t>(i)]; }
  static RefTensor of(const Tensor& t);  // exact: bound empty
  // Rounded to the dtype.
  Tensor to_tensor() const;
};

// Why a node cannot run; collected over the whole model and reported in one list.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Refusal for a tensor that no address space or not this machine's memory can hold.
void require_possible(const Shape& shape, DType dtype);

// Given to a shape rule. Constant inputs can be read (a Reshape's target, a Slice's starts).
class InferContext {
 public:
  InferContext(const Graph& graph, const Node& node) : graph_(graph), node(node), outputs_(node.outputs.size()) {}
  const Graph& graph_;
  const Node& node;

  size_t input_count() const { return node.inputs.size(); }
  bool has_input(size_t i) const { return i < node.inputs.size() && node.inputs[i] != kNoValue; }
  const Value& input(size_t i) const;  // throws Refusal when absent
  const Shape& shape(size_t i) const { return input(i).shape; }
  DType dtype(size_t i) const { return input(i).dtype; }
  const Tensor& constant(size_t i, const char* what) const;  // throws Refusal: "<what> must be a constant"
  std::vector<int64_t> constant_ints(size_t i, const char* what) const;
  // Negative axes count from the end; out of range is a Refusal.
  int64_t normalized_axis(int64_t axis, size_t rank) const;
  void set_output(size_t i, DType dtype, Shape shape);
  struct Output {
    DType dtype = DType::kF32;
    Shape shape;
    bool set = false;
  };
  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  std::vector<Output> outputs_;
};

// How kernels may compute products (of matrices, convolution, attention) other than by sums in the operands' type: bounds allow for it.
struct ProductArithmetic {
  double rounding = 0;  // relative, of each operand beyond its own bound: 2^-8 where kernels may round them to bfloat16 first
  int strassen = 0;     // products with one matrix on the right may be made of seven products of halves, so many times (graph/ops/strassen_bound.h)
  bool operator==(const ProductArithmetic&) const = default;
};

// Given to the evaluator. Output dtypes and shapes are already set from the shape rule; `value`/`ints` must be filled, and
// `bound` too when `bounds` is true.
class EvalContext {
 public:
  const Node& node;
  bool bounds;
  std::vector<const RefTensor*> inputs;  // nullptr where absent
  std::vector<RefTensor> outputs;
  ProductArithmetic products = {};

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i]; }
  const RefTensor& in(size_t i) const { return *inputs[i]; }
  RefTensor& out(size_t i) { return outputs[i]; }
};

struct NodeUpgrade;  // graph/node_upgrade.h

class Expansion;  // graph/expansion.h

// What the standard changed of an operator: a file's older nodes need it once the file has come as far as `version`.
struct VersionChange {
  int version;
  void (*apply)(NodeUpgrade&);
};

struct OpDef {
  std::string_view domain;  // "" or "com.microsoft"
  std::string_view name;
  // A letter an input: a any type, n a number (no bool), f a float, i an integer, b bool. A capital: the input may be absent.
  // A '+' at the end: any number of the last one. Checked before the shape rule (graph/check_signature.h).
  std::string_view inputs;
  void (*infer)(InferContext&);  // throws Refusal
  void (*eval)(EvalContext&);
  int outputs = 1;                          // at most; 0: any number
  std::vector<VersionChange> changes = {};  // in the order of versions
  // Instead of `infer` and `eval`: made of other operators, no Graph has such a node (graph/expansion.h). Beside them: for those of its forms that they do not know.
  void (*expand)(Expansion&) = nullptr;
};

const std::vector<OpDef>& op_list();
const OpDef* find_op(std::string_view domain, std::string_view name);

// Runs the shape rule of `node` against `graph` and returns the outputs' types. Throws Refusal.
std::vector<InferContext::Output> infer_node(const Graph& graph, const Node& node);

}  // namespace amdahl
