#include "graph/models/earlier_tokens.h"

namespace amdahl {

ValueId EarlierTokens::before(int64_t layer, const std::string& what, ValueId own) {
  const std::string name = std::to_string(layer) + "." + what;
  outputs_.push_back({"new." + name, own});
  if (keys_ == 1) return own;
  Shape shape = writer_.shape(own);
  shape[2] = keys_ - 1;
  return writer_.node("Concat", {writer_.input("past." + name, DType::kF32, shape), own}, {{"axis", int64_t{2}}});
}

Graph EarlierTokens::finish(const std::string& name, ValueId logits) {
  outputs_.insert(outputs_.begin(), {"logits", logits});
  Graph graph = writer_.finish(outputs_);
  graph.name = name;
  return graph;
}

}  // namespace amdahl
