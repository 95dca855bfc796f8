#include "graph/check_signature.h"

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

}  // namespace

void check_signature(const OpDef& op, const Graph& graph, const Node& node) {
  const bool variadic = op.inputs.ends_with('+');
  const std::string_view kinds = variadic ? op.inputs.substr(0, op.inputs.size() - 1) : op.inputs;
  const size_t count = node.inputs.size();
  if (!variadic && count > kinds.size()) throw Refusal(fmt::format("{} inputs, at most {} are known", count, kinds.size()));
  if (op.outputs > 0 && node.outputs.size() > static_cast<size_t>(op.outputs))
    throw Refusal(fmt::format("{} outputs, at most {} are known", node.outputs.size(), op.outputs));
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
