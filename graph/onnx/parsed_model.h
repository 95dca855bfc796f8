#pragma once
// An ONNX file as plain data, before it means anything: names instead of numbers, shapes with holes. It keeps protobuf
// (slow to compile) out of the rest of the loader.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/external_data.h"

namespace amdahl {

// A `refusal`, here and below, says in words why this piece cannot run; empty: it can.
struct ParsedInput {
  struct Dimension {
    int64_t value = -1;  // -1: not fixed
    std::string symbol;  // same symbol, same size; may be empty
  };
  std::string name;
  DType dtype = DType::kF32;
  bool has_shape = false;
  std::vector<Dimension> dims;
  std::string refusal;
};

struct ParsedConstant {
  std::string name;
  Tensor tensor;
  std::string refusal;
};

struct ParsedBody;

struct ParsedNode {
  std::string name, domain, op, overload;
  int version = 0;
  std::map<std::string, Attribute> attributes;
  std::vector<std::pair<std::string, std::string>> references;  // own attribute <- attribute of the calling node
  std::vector<std::string> inputs, outputs;                     // "" where absent
  std::string refusal;
  std::vector<ParsedBody> bodies;  // of control flow: attributes that are graphs
};

// A graph inside a node. Its nodes may read what its surroundings have named before.
struct ParsedBody {
  std::string attribute;  // "then_branch"
  std::vector<ParsedInput> inputs;
  std::vector<ParsedConstant> constants;
  std::vector<ParsedNode> nodes;
  std::vector<std::string> outputs;
};

struct ParsedFunction {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> defaults;  // of its attributes
  std::vector<ParsedNode> nodes;
};

struct ParsedModel {
  std::string name;
  std::vector<ParsedInput> inputs;    // without those that are initializers too
  std::vector<ParsedInput> defaults;  // these: from IR 4 on a caller may give others than the file
  std::vector<ParsedConstant> constants;
  std::vector<ParsedNode> nodes;
  std::vector<std::string> outputs;
  std::vector<ParsedFunction> functions;
};

// Reads the bytes of a ModelProto. Throws Error: kBadModel (damaged), kUnsupported (opset out of range).
ParsedModel parse_model(std::string_view bytes, ExternalData& external);

// Makes inputs of those defaults that the caller gives, of the shape that the file gives them.
void take_inputs(ParsedModel& model, const std::set<std::string>& given);

// Replaces calls of local functions by their bodies, also nested ones. Throws Error(kBadModel) on recursion.
void inline_functions(ParsedModel& model);

// Turns Constant nodes into constants. After inlining: a function's Constant may take its value from the caller.
void take_constants(ParsedModel& model);

// Checks that names are produced once and consumed after, and sorts the nodes so (files may come unordered; a sorted
// file keeps its order). With `only_needed`, drops what no output depends on. Throws Error(kBadModel).
void sort_nodes(ParsedModel& model, bool only_needed);

}  // namespace amdahl
