#pragma once
// From names to a Graph: every value gets a dtype and a shape, or the model is refused.

#include "graph/parsed_model.h"

namespace amdahl {

// `model` is inlined and sorted; `shapes` holds the shape of every input. Results that are known now are set as
// constants (their nodes stay: clean_up drops them). Throws Error(kUnsupported) that lists every reason of every node.
Graph infer_graph(ParsedModel model, const std::map<std::string, Shape>& shapes);

}  // namespace amdahl
