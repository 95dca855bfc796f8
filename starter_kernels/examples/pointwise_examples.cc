#include <cmath>

#include "starter_kernels/examples/example_graph.h"

namespace amdahl {
namespace {

// Every binade that matters to an activation, both signs, zeros, infinities, NaN, denormals, and numbers where both counts of a sine's quarter turns matter.
ValueId wide_floats(ExampleGraph& g) {
  std::vector<double> v{0.0,  -0.0, 1e-40, -1e-40, 0x1.6bd0bep+46,  0x1.65700cp+60,   0x1.b1df6cp+69,   1e15,
                        1e23, 1e30, -1e30, 3e38,   __builtin_inf(), -__builtin_inf(), __builtin_nan("")};
  for (double x = 1e-6; x < 120; x *= 1.37) {
    v.push_back(x);
    v.push_back(-x);
  }
  const auto n = static_cast<int64_t>(v.size());
  return g.floats({n}, v);
}

// One operator on the wide range (fp32) or on normal numbers, at a size with a vector tail.
Graph unary(const std::string& op, const ExampleGraph::Attributes& attributes = {}, DType dtype = DType::kF32) {
  ExampleGraph g(op);
  return g.finish({g.node(op, {dtype == DType::kF32 ? wide_floats(g) : g.input(dtype, {3, 37})}, attributes)});
}

Graph binary(const std::string& op, Shape a, Shape b, DType dtype = DType::kF32, const ExampleGraph::Attributes& attributes = {}) {
  ExampleGraph g(op);
  const ValueId x = g.input(dtype, a), y = g.input(dtype, b);
  return g.finish({g.node(op, {x, y}, attributes)});
}

// Integers with signs, zeros and extremes on both sides.
Graph integers(const std::string& op, DType dtype, const ExampleGraph::Attributes& attributes = {}) {
  ExampleGraph g(op);
  std::vector<int64_t> a, b;
  for (int64_t x : {-128, -100, -7, -3, -1, 0, 1, 2, 5, 100, 127})
    for (int64_t y : {-128, -5, -2, -1, 0, 1, 3, 127}) {
      a.push_back(x);
      b.push_back(y);
    }
  const auto n = static_cast<int64_t>(a.size());
  return g.finish({g.node(op, {g.ints({n}, a, dtype), g.ints({n}, b, dtype)}, attributes)});
}

Graph cast(DType from, int64_t to) {
  ExampleGraph g("Cast");
  return g.finish({g.node("Cast", {g.input(from, {5, 13})}, {{"to", to}})});
}

// Every function of one number, and types that it is computed in.
std::vector<Graph> of_one_operand() {
  std::vector<Graph> all;
  // clang-format off
  for (const char* op : {"Abs", "Neg", "Sign", "Reciprocal", "Sqrt", "Floor", "Ceil", "Round", "Exp", "Log", "Sin", "Cos", "Tan",
                         "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Tanh", "Erf", "Sigmoid", "Relu",
                         "LeakyRelu", "Elu", "Celu", "Selu", "Softplus", "Softsign", "HardSigmoid", "HardSwish",
                         "ThresholdedRelu", "Gelu", "Mish", "IsNaN", "IsInf", "com.microsoft.QuickGelu", "com.microsoft.FastGelu"})
    all.push_back(unary(op));
  // clang-format on
  all.push_back(unary("Gelu", {{"approximate", std::string("tanh")}}));
  all.push_back(unary("Shrink", {{"lambd", 0.3}, {"bias", 0.1}}));
  all.push_back(unary("Celu", {{"alpha", 0.7}}));
  all.push_back(unary("IsInf", {{"detect_negative", int64_t{0}}}));
  for (DType dtype : {DType::kF64, DType::kF16, DType::kBF16})
    for (const char* op : {"Exp", "Gelu", "Sqrt"}) all.push_back(unary(op, {}, dtype));
  all.push_back(unary("Neg", {}, DType::kI32));
  all.push_back(unary("Abs", {}, DType::kI8));
  all.push_back(unary("Not", {}, DType::kBool));
  all.push_back(unary("BitwiseNot", {}, DType::kU16));
  return all;
}

std::vector<Graph> of_two_operands() {
  std::vector<Graph> all;
  for (const char* op : {"Max", "Min"}) {  // NaN on either side
    ExampleGraph g(op);
    const ValueId x = wide_floats(g);
    all.push_back(g.finish({g.node(op, {x, g.floats({}, {1.5})}), g.node(op, {g.input({1, 130}), g.floats({2, 1}, {__builtin_nan(""), 0.5})})}));
  }
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"})
    all.push_back(binary(op, {2, 3, 19}, {2, 3, 19}));
  // Whole numbers, half of them equal: random floats never are.
  for (const char* op : {"LessOrEqual", "GreaterOrEqual", "Equal"}) {
    ExampleGraph g("ties");
    all.push_back(g.finish({g.node(op, {g.input(DType::kI64, {4, 9}), g.input(DType::kI64, {4, 9})})}));
  }
  // Broadcasts: a row, a column, both sides, a scalar, an inner dimension, over more dimensions than can be merged.
  all.push_back(binary("Add", {7, 33}, {33}));
  all.push_back(binary("Sub", {7, 33}, {7, 1}));
  all.push_back(binary("Mul", {7, 1}, {1, 33}));
  all.push_back(binary("Div", {2, 5, 3, 4}, {}));
  all.push_back(binary("Add", {2, 5, 3, 4}, {5, 1, 1}));
  all.push_back(binary("Sub", {2, 1, 3, 1, 17}, {1, 5, 1, 4, 1}));
  all.push_back(binary("Add", {1}, {}));
  all.push_back(binary("Add", {0, 4}, {1, 4}));
  return all;
}

std::vector<Graph> sizes_and_types() {
  std::vector<Graph> all;
  // Several tasks, threads and pieces, with a ragged end.
  all.push_back(binary("Add", {3, 45001}, {3, 45001}));
  all.push_back(binary("Mul", {701, 203}, {203}));
  for (DType dtype : {DType::kF64, DType::kF16, DType::kBF16, DType::kI64}) all.push_back(binary("Add", {9, 33}, {1, 33}, dtype));
  all.push_back(binary("And", {3, 40}, {40}, DType::kBool));
  all.push_back(binary("Or", {3, 40}, {40}, DType::kBool));
  all.push_back(binary("Xor", {3, 40}, {3, 1}, DType::kBool));
  all.push_back(binary("BitwiseXor", {3, 40}, {40}, DType::kI32));
  all.push_back(binary("BitShift", {3, 40}, {40}, DType::kU32, {{"direction", std::string("LEFT")}}));
  all.push_back(binary("BitShift", {3, 40}, {40}, DType::kU8, {{"direction", std::string("RIGHT")}}));
  for (DType dtype : {DType::kI8, DType::kI32, DType::kI64})
    for (const char* op : {"Add", "Mul", "Div", "Mod", "Max"}) all.push_back(integers(op, dtype));
  all.push_back(integers("Mod", DType::kI32, {{"fmod", int64_t{1}}}));
  all.push_back(integers("Less", DType::kI16));
  return all;
}

std::vector<Graph> powers_and_limits() {
  std::vector<Graph> all;
  {
    ExampleGraph g("Mod");
    all.push_back(g.finish({g.node("Mod", {g.input({40}), g.normal({40}, 3, 2)}, {{"fmod", int64_t{1}}})}));
  }
  {
    ExampleGraph g("Pow");
    const ValueId x = g.node("Abs", {g.input({5, 21})});
    std::vector<ValueId> y{g.node("Pow", {x, g.input({21})})};
    for (double e : {2.0, 3.0, 0.5, -1.0, 1.0, 1.7, -2.0}) y.push_back(g.node("Pow", {x, g.floats({}, {e})}));
    y.push_back(g.node("Pow", {x, g.ints({1}, {2})}));
    y.push_back(g.node("Pow", {wide_floats(g), g.floats({}, {0.5})}));
    all.push_back(g.finish(y));
  }
  {
    ExampleGraph g("Clip");
    const ValueId x = g.input({4, 23});
    const ValueId lo = g.floats({}, {-0.5}), hi = g.floats({}, {0.75});
    const ValueId low_at_run = g.node("Neg", {g.node("Abs", {g.input({})})});
    all.push_back(g.finish({g.node("Clip", {x, lo, hi}), g.node("Clip", {x, kNoValue, hi}), g.node("Clip", {x, lo}), g.node("Clip", {x, low_at_run, hi})}));
  }
  {
    ExampleGraph g("Clip by NaN, and to finite numbers");
    const ValueId x = wide_floats(g), nan = g.floats({}, {__builtin_nan("")}), one = g.floats({}, {1});
    const ValueId nan_at_run = g.node("Add", {g.input({}), nan});
    all.push_back(g.finish({g.node("Clip", {x}), g.node("Clip", {x, one}), g.node("Clip", {x, nan}), g.node("Clip", {x, kNoValue, nan}),
                            g.node("Clip", {x, nan_at_run, one}), g.node("Clip", {x, one, nan_at_run})}));
  }
  return all;
}

std::vector<Graph> over_nothing() {
  std::vector<Graph> all;
  for (const char* op : {"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    ExampleGraph g(std::string(op) + " over no axes");
    all.push_back(g.finish({g.node(op, {g.input({3, 21})}, {{"noop_with_empty_axes", int64_t{1}}})}));
  }
  {
    ExampleGraph g("products over nothing");
    const ValueId a = g.input({3, 0}), b = g.input({0, 5}), c = g.input({5});
    all.push_back(g.finish(
        {g.node("MatMul", {a, b}), g.node("Gemm", {a, b, c}), g.node("Gemm", {b, a}, {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", HUGE_VAL}})}));
  }
  {
    ExampleGraph g("results of no elements");
    const ValueId a = g.input({0, 4}), b = g.input({4, 3}), x = g.input({2, 0, 3});
    all.push_back(g.finish({g.node("MatMul", {a, b}), g.node("ReduceMax", {x, g.ints({1}, {0})}), g.node("Softmax", {x})}));
  }
  return all;
}

std::vector<Graph> of_many_operands() {
  std::vector<Graph> all;
  {
    ExampleGraph g("Where");
    const ValueId x = g.input({4, 1, 23}), y = g.input({3, 1});
    const ValueId c = g.node("Greater", {x, g.floats({1}, {0.1})});
    all.push_back(g.finish({g.node("Where", {c, x, y}), g.node("Where", {c, x, g.floats({}, {-__builtin_inf()})}),
                            g.node("Where", {c, g.ints({1}, {7}), g.ints({23}, std::vector<int64_t>(23, -3))})}));
  }
  {
    ExampleGraph g("n-ary");
    const ValueId a = g.input({3, 1, 17}), b = g.input({5, 1}), c = g.input({});
    std::vector<ValueId> y;
    for (const char* op : {"Sum", "Mean", "Max", "Min"}) y.push_back(g.node(op, {a, b, c}));
    y.push_back(g.node("Sum", {a}));
    all.push_back(g.finish(y));
  }
  return all;
}

std::vector<Graph> casts() {
  std::vector<Graph> all;
  // ONNX codes: 1 f32, 2 u8, 3 i8, 6 i32, 7 i64, 9 bool, 10 f16, 11 f64, 16 bf16.
  for (int64_t to : {1, 3, 6, 7, 9, 10, 11, 16}) all.push_back(cast(DType::kF32, to));
  for (int64_t to : {1, 2, 7, 9, 10}) all.push_back(cast(DType::kI32, to));
  for (DType from : {DType::kBool, DType::kF16, DType::kBF16, DType::kI64, DType::kF64}) all.push_back(cast(from, 1));
  return all;
}

std::vector<Graph> normalizations_and_biases() {
  std::vector<Graph> all;
  for (const Shape& shape : {Shape{2, 5, 6, 7}, Shape{3, 40}}) {
    ExampleGraph g("BatchNormalization");
    const Shape channels{shape[1]};
    const ValueId x = g.input(shape), variance = g.node("Abs", {g.input(channels)});
    all.push_back(g.finish({g.node("BatchNormalization", {x, g.input(channels), g.input(channels), g.input(channels), variance}, {{"epsilon", 1e-3}})}));
  }
  {
    ExampleGraph g("BatchNormalization of f16 by f32");
    const ValueId x = g.input(DType::kF16, {2, 5, 6}), variance = g.node("Abs", {g.input({5})});
    all.push_back(g.finish({g.node("BatchNormalization", {x, g.input({5}), g.input({5}), g.input({5}), variance})}));
  }
  {
    ExampleGraph g("BiasGelu");
    const ValueId x = g.input({6, 40}), b = g.normal({40}, 5);
    all.push_back(g.finish({g.node("com.microsoft.BiasGelu", {x, b}), g.node("com.microsoft.FastGelu", {x, b})}));
  }
  return all;
}

}  // namespace

std::vector<Graph> pointwise_examples() {
  std::vector<Graph> all;
  for (auto part : {of_one_operand, of_two_operands, sizes_and_types, powers_and_limits, over_nothing, of_many_operands, casts, normalizations_and_biases}) {
    const std::vector<Graph> some = part();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace amdahl
