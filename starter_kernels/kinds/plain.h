#pragma once
// Operators that no other kind computes: one readable loop nest each, in kernels/plain_<operator> of each backend. They are rare in the models
// that people tune, so clarity comes before speed here; a knob is added when a model shows the need.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// How one operator becomes a plain problem: its operands as data inputs (constants that only shape the loops are left out)
// and constants for the text, `constexpr int64_t NAME = value;` or arrays.
struct PlainForm {
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Json constants = Json::object();  // name -> integer, array of integers, or {"float": [..]} for an array of floats
};

struct PlainParams {
  std::string op;                   // ONNX operator type
  std::string source;               // PlainOperator::source
  Json constants = Json::object();  // PlainForm::constants

  static PlainParams of(const Problem& problem);
  void write(Problem& problem) const;
};

struct PlainOperator {
  std::string_view op;                           // ONNX operator type
  std::string_view source;                       // "topk": cpu/kernels/plain_topk.cpp
  PlainForm (*form)(const Graph&, const Node&);  // throws Refusal
};
const std::vector<PlainOperator>& plain_operators();  // plain_operators.cc

}  // namespace amdahl
