#pragma once
// From names to a Graph: every value gets a dtype and a shape, or the model is refused.

#include "graph/clean_up/fold.h"
#include "graph/onnx/parsed_model.h"

namespace amdahl {

// `model` is inlined and sorted; `shapes` holds the shape of every input. Results that are known now are set as
// constants (their nodes stay: clean_up drops them). Throws Error(kUnsupported) that lists every reason of every node.
struct InferredGraph {
  Graph graph;
  FoldBudget budget;  // what folding may still cost: clean-up must not begin anew, from the constants made so far
};
InferredGraph infer_graph(ParsedModel model, const std::map<std::string, Shape>& shapes);

// The part of that which no shape changes: operators that nothing here computes.
void require_known_operators(const ParsedModel& model);

}  // namespace amdahl
