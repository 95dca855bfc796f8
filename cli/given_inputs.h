#pragma once
// --input NAME=FILE: tensors that a user brings for a model's inputs.

#include <map>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "graph/graph.h"

namespace amdahl {

void declare_inputs(Options& options);
std::vector<std::string> read_inputs(const po::variables_map& values);  // "NAME=FILE", as they were given

// The names that may be meant by "a=b=FILE": "a", "a=b". Throws Error(kUsage) when there is none.
std::vector<std::string> possible_input_names(const std::string& text);
// By name: the longest that is an input's. Throws Error: kUsage, kBadInput, kIo.
std::map<std::string, Tensor> read_tensors(const std::vector<std::string>& inputs, const Graph& graph);
// Every input of the graph, in its order, checked. Throws Error(kBadInput) with all faults in one message.
std::vector<Tensor> checked_inputs(const Graph& graph, std::map<std::string, Tensor> given);
// "x f32 [1, 3], y i64 [2]".
std::string expected_inputs(const Graph& graph);

}  // namespace amdahl
