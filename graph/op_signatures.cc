#include "graph/op_signatures.h"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl {
namespace {

bool fits(char kind, DType dtype) {
  switch (kind | 0x20) {
    case 'n': return dtype != DType::kBool;
    case 'f': return is_float(dtype);
    case 'i': return !is_float(dtype) && dtype != DType::kBool;
    case 'b': return dtype == DType::kBool;
    default: return true;
  }
}

const char* word_of(char kind) {
  switch (kind | 0x20) {
    case 'n': return "a number";
    case 'f': return "a float";
    case 'i': return "an integer";
    default: return "bool";
  }
}

const OpSignature* find_signature(const Node& node) {
  for (const OpSignature& s : op_signatures())
    if (s.domain == node.domain && s.name == node.op) return &s;
  return nullptr;
}

}  // namespace

const std::vector<OpSignature>& op_signatures() {
  static const std::vector<OpSignature> list = {
      // Pointwise.
      {"", "Abs", "n"}, {"", "Neg", "n"}, {"", "Sign", "n"}, {"", "Ceil", "f"}, {"", "Floor", "f"}, {"", "Round", "f"},
      {"", "Sqrt", "f"}, {"", "Reciprocal", "f"}, {"", "Exp", "f"}, {"", "Log", "f"}, {"", "Erf", "f"}, {"", "Sin", "f"},
      {"", "Cos", "f"}, {"", "Tan", "f"}, {"", "Asin", "f"}, {"", "Acos", "f"}, {"", "Atan", "f"}, {"", "Sinh", "f"},
      {"", "Cosh", "f"}, {"", "Tanh", "f"}, {"", "Asinh", "f"}, {"", "Acosh", "f"}, {"", "Atanh", "f"},
      {"", "Relu", "n"}, {"", "LeakyRelu", "f"}, {"", "PRelu", "nn"}, {"", "ThresholdedRelu", "f"}, {"", "Shrink", "n"},
      {"", "Clip", "nNN"}, {"", "HardSigmoid", "f"}, {"", "HardSwish", "f"}, {"", "Elu", "f"}, {"", "Selu", "f"},
      {"", "Celu", "f"}, {"", "Sigmoid", "f"}, {"", "Softplus", "f"}, {"", "Softsign", "f"}, {"", "Gelu", "f"}, {"", "Mish", "f"},
      {"com.microsoft", "Gelu", "f"}, {"com.microsoft", "QuickGelu", "f"}, {"com.microsoft", "BiasGelu", "ff"},
      {"com.microsoft", "FastGelu", "fF"},
      {"", "Add", "nn"}, {"", "Sub", "nn"}, {"", "Mul", "nn"}, {"", "Div", "nn"}, {"", "Mod", "nn"}, {"", "Pow", "nn"},
      {"", "Max", "n+"}, {"", "Min", "n+"}, {"", "Sum", "n+"}, {"", "Mean", "n+"},
      {"", "Equal", "aa"}, {"", "Less", "nn"}, {"", "LessOrEqual", "nn"}, {"", "Greater", "nn"}, {"", "GreaterOrEqual", "nn"},
      {"", "And", "bb"}, {"", "Or", "bb"}, {"", "Xor", "bb"}, {"", "Not", "b"},
      {"", "BitwiseAnd", "ii"}, {"", "BitwiseOr", "ii"}, {"", "BitwiseXor", "ii"}, {"", "BitwiseNot", "i"}, {"", "BitShift", "ii"},
      {"", "IsNaN", "f"}, {"", "IsInf", "f"}, {"", "Where", "baa"}, {"", "Identity", "a"}, {"", "Dropout", "aFB", 2},
      {"", "Cast", "a"}, {"", "CastLike", "aa"},
      // Movement.
      {"", "Reshape", "ai"}, {"", "Flatten", "a"}, {"", "Squeeze", "aI"}, {"", "Unsqueeze", "aI"}, {"", "Transpose", "a"},
      {"", "DepthToSpace", "a"}, {"", "SpaceToDepth", "a"}, {"", "Expand", "ai"}, {"", "Tile", "ai"}, {"", "Concat", "a+"},
      {"", "Split", "aI", 0}, {"", "Slice", "aIIII"}, {"", "Pad", "aIAI"}, {"", "Gather", "ai"}, {"", "GatherElements", "ai"},
      {"", "GatherND", "ai"}, {"", "Resize", "aFFI"}, {"", "Upsample", "aF"},
      // Indexing.
      {"", "Scatter", "aia"}, {"", "ScatterElements", "aia"}, {"", "ScatterND", "aia"}, {"", "TopK", "nI", 2}, {"", "ArgMax", "n"},
      {"", "ArgMin", "n"}, {"", "OneHot", "nna"}, {"", "CumSum", "ni"}, {"", "Trilu", "aI"}, {"", "EyeLike", "a"},
      {"", "ReverseSequence", "ai"}, {"", "Compress", "ab"}, {"", "NonZero", "a"},
      // From shapes and constants.
      {"", "Shape", "a"}, {"", "Size", "a"}, {"", "Constant", ""}, {"", "ConstantOfShape", "i"}, {"", "Range", "nnn"},
      // Sums of products, windows, rows.
      {"", "MatMul", "nn"}, {"", "Gemm", "ffF"}, {"", "Einsum", "n+"}, {"", "Conv", "ffF"}, {"", "ConvTranspose", "ffF"},
      {"", "MaxPool", "n", 2}, {"", "AveragePool", "f"}, {"", "LpPool", "f"}, {"", "GlobalMaxPool", "f"},
      {"", "GlobalAveragePool", "f"}, {"", "GlobalLpPool", "f"},
      {"", "Softmax", "f"}, {"", "LogSoftmax", "f"}, {"", "Hardmax", "f"},
      {"", "LayerNormalization", "ffF", 3}, {"", "RMSNormalization", "ff"}, {"", "SimplifiedLayerNormalization", "ff", 2},
      {"com.microsoft", "SimplifiedLayerNormalization", "ff", 2}, {"", "InstanceNormalization", "fff"},
      {"", "GroupNormalization", "fff"}, {"", "BatchNormalization", "fffff", 5}, {"", "LpNormalization", "f"},
      {"", "MeanVarianceNormalization", "f"}, {"", "LRN", "f"},
      {"", "ReduceSum", "aI"}, {"", "ReduceMean", "aI"}, {"", "ReduceMax", "aI"}, {"", "ReduceMin", "aI"}, {"", "ReduceProd", "aI"},
      {"", "ReduceL1", "aI"}, {"", "ReduceL2", "aI"}, {"", "ReduceSumSquare", "aI"}, {"", "ReduceLogSum", "aI"},
      {"", "ReduceLogSumExp", "aI"},
      {"", "Attention", "fffAFFI", 4}, {"", "RotaryEmbedding", "fffI"}, {"com.microsoft", "RotaryEmbedding", "fiff"},
      {"", "SoftmaxCrossEntropyLoss", "fiF", 2}, {"", "NegativeLogLikelihoodLoss", "fiF"},
  };
  return list;
}

void check_signature(const Graph& graph, const Node& node) {
  const OpSignature* s = find_signature(node);
  if (!s) throw Refusal("unknown operator");
  const bool variadic = s->inputs.ends_with('+');
  const std::string_view kinds = variadic ? s->inputs.substr(0, s->inputs.size() - 1) : s->inputs;
  const size_t count = node.inputs.size();
  if (!variadic && count > kinds.size()) throw Refusal(fmt::format("{} inputs, at most {} are known", count, kinds.size()));
  if (s->outputs > 0 && node.outputs.size() > static_cast<size_t>(s->outputs))
    throw Refusal(fmt::format("{} outputs, at most {} are known", node.outputs.size(), s->outputs));
  for (size_t i = 0; i < std::max(count, kinds.size()); ++i) {
    const char kind = kinds[std::min(i, kinds.size() - 1)];
    if (i >= count || node.inputs[i] == kNoValue) {
      if (kind >= 'a') throw Refusal(fmt::format("input {} is missing", i));
      continue;
    }
    if (const DType dtype = graph.value(node.inputs[i]).dtype; !fits(kind, dtype))
      throw Refusal(fmt::format("input {} is {}, it must be {}", i, name_of(dtype), word_of(kind)));
  }
}

}  // namespace amdahl
