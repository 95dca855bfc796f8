// ModelProto to ParsedModel. Nothing is computed here; what cannot be represented becomes a refusal of its node.

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <climits>

#include "base/error.h"
#include "base/printable.h"
#include "graph/onnx/onnx_tensor.h"
#include "graph/onnx/parsed_model.h"
#include "graph/onnx_types.h"

namespace amdahl {
namespace {

using Imports = std::map<std::string, int>;  // domain -> opset version

// Semantics of the default domain that the shape rules know.
constexpr int64_t kOldestOpset = 9, kNewestOpset = 26;
constexpr int64_t kDefaultsCanBeReplaced = 4;  // IR version
// Fields that are younger than the installed onnx.proto; protobuf keeps them, undecoded.
constexpr int kFunctionDefaults = 11, kFunctionOverload = 13, kNodeOverload = 8;

[[noreturn]] void bad(const std::string& message) { throw Error(ExitCode::kBadModel, message); }

std::vector<std::string> undecoded(const google::protobuf::UnknownFieldSet& fields, int number) {
  std::vector<std::string> found;
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == number && fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      found.push_back(fields.field(i).length_delimited());
  return found;
}

std::string overload_of(const google::protobuf::UnknownFieldSet& fields, int number) {
  const auto found = undecoded(fields, number);
  return found.empty() ? "" : found.back();
}

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : printable(domain); }

// Every name of the file becomes printable here, on its way in: what prints one later, in a message, a report, a comment of
// generated code or JSON, need not think of it. Two names that thereby become one are refused as any name given twice.
template <typename Names>
std::vector<std::string> printable_names(const Names& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(printable(name));
  return all;
}

template <typename Opsets>
Imports read_imports(const Opsets& opsets) {
  Imports imports;
  for (const auto& opset : opsets) {
    const std::string domain = domain_of(opset.domain());
    if (domain.empty() && (opset.version() < kOldestOpset || opset.version() > kNewestOpset))
      throw Error(ExitCode::kUnsupported, fmt::format("the model uses ONNX opset {}; {} to {} are supported: export it again, or convert it with "
                                                      "onnx.version_converter",
                                                      opset.version(), kOldestOpset, kNewestOpset));
    imports[domain] = static_cast<int>(opset.version());
  }
  return imports;
}

// Old files leave `type` out: the field that is set tells it.
onnx::AttributeProto::AttributeType type_of(const onnx::AttributeProto& a) {
  using A = onnx::AttributeProto;
  if (a.type() != A::UNDEFINED) return a.type();
  if (a.has_f()) return A::FLOAT;
  if (a.has_i()) return A::INT;
  if (a.has_s()) return A::STRING;
  if (a.has_t()) return A::TENSOR;
  if (a.has_g()) return A::GRAPH;
  if (a.floats_size()) return A::FLOATS;
  if (a.ints_size()) return A::INTS;
  if (a.strings_size()) return A::STRINGS;
  return A::UNDEFINED;
}

// Sets `refusal` for kinds of attributes that no supported operator has.
std::optional<Attribute> read_attribute(onnx::AttributeProto& a, const std::string& owner, ExternalData& external, std::string* refusal) {
  using A = onnx::AttributeProto;
  switch (type_of(a)) {
    case A::FLOAT: return static_cast<double>(a.f());
    case A::INT: return static_cast<int64_t>(a.i());
    case A::STRING: return a.s();
    case A::FLOATS: return std::vector<double>(a.floats().begin(), a.floats().end());
    case A::INTS: return std::vector<int64_t>(a.ints().begin(), a.ints().end());
    case A::STRINGS: return std::vector<std::string>(a.strings().begin(), a.strings().end());
    case A::TENSOR: {
      std::string reason;
      Tensor t = read_tensor(*a.mutable_t(), fmt::format("{} of {}", shown(a.name()), owner), &external, &reason);
      if (reason.empty()) return t;
      *refusal = fmt::format("attribute '{}': {}", shown(a.name()), reason);
      return std::nullopt;
    }
    case A::GRAPHS: *refusal = fmt::format("attribute '{}' is a list of graphs", shown(a.name())); return std::nullopt;
    case A::SPARSE_TENSOR:
    case A::SPARSE_TENSORS: *refusal = fmt::format("attribute '{}' is a sparse tensor", shown(a.name())); return std::nullopt;
    default: *refusal = fmt::format("attribute '{}' has a type that is not supported", shown(a.name())); return std::nullopt;
  }
}

ParsedBody read_body(const std::string& attribute, onnx::GraphProto& graph, const Imports& imports, ExternalData& external);

ParsedNode read_node(onnx::NodeProto& proto, const Imports& imports, ExternalData& external) {
  ParsedNode node;
  node.name = printable(proto.name());
  node.domain = domain_of(proto.domain());
  node.op = printable(proto.op_type());
  node.overload = overload_of(proto.unknown_fields(), kNodeOverload);
  const auto version = imports.find(node.domain);
  node.version = version == imports.end() ? 1 : version->second;
  node.inputs = printable_names(proto.input());
  node.outputs = printable_names(proto.output());
  if (node.domain.empty() && !imports.count(node.domain))
    bad(
        fmt::format("node '{}' ({}) belongs to ONNX's own operators, but the file does not say which opset it uses; "
                    "export it again",
                    shown(node.name), shown(node.op)));
  const std::string owner = fmt::format("node '{}' ({})", shown(node.name), shown(node.op));
  for (auto& a : *proto.mutable_attribute()) {
    if (a.has_ref_attr_name() && !a.ref_attr_name().empty()) {
      node.references.emplace_back(printable(a.name()), printable(a.ref_attr_name()));
      continue;
    }
    if (type_of(a) == onnx::AttributeProto::GRAPH) node.bodies.push_back(read_body(printable(a.name()), *a.mutable_g(), imports, external));
    else if (auto value = read_attribute(a, owner, external, &node.refusal)) node.attributes[printable(a.name())] = std::move(*value);
  }
  return node;
}

// What exporters write where they know nothing of a size: no name, two of them need not be the same.
bool is_placeholder(const std::string& symbol) { return symbol == "?" || symbol == "None" || symbol == "-1"; }

ParsedInput read_input(const onnx::ValueInfoProto& info) {
  ParsedInput input;
  input.name = printable(info.name());
  const onnx::TypeProto& type = info.type();
  if (!type.has_tensor_type()) {
    input.refusal = type.has_sequence_type()        ? "it is a sequence"
                    : type.has_map_type()           ? "it is a map"
                    : type.has_optional_type()      ? "it is an optional"
                    : type.has_sparse_tensor_type() ? "it is a sparse tensor"
                                                    : "it has no type";
    return input;
  }
  const auto dtype = dtype_of_onnx(type.tensor_type().elem_type());
  if (!dtype) input.refusal = fmt::format("element type {} is not supported", onnx_type_name(type.tensor_type().elem_type()));
  else input.dtype = *dtype;
  input.has_shape = type.tensor_type().has_shape();
  for (const auto& dim : type.tensor_type().shape().dim()) {
    ParsedInput::Dimension d;
    if (dim.has_dim_value() && dim.dim_value() >= 0) d.value = dim.dim_value();
    if (dim.has_dim_param() && !is_placeholder(dim.dim_param())) d.symbol = printable(dim.dim_param());
    input.dims.push_back(std::move(d));
  }
  return input;
}

// Dense ones, and the names of sparse ones with their refusal.
std::vector<ParsedConstant> read_constants(onnx::GraphProto& graph, ExternalData& external) {
  std::vector<ParsedConstant> constants;
  for (auto& tensor : *graph.mutable_initializer()) {
    ParsedConstant c;
    c.name = printable(tensor.name());
    c.tensor = read_tensor(tensor, shown(c.name), &external, &c.refusal);
    constants.push_back(std::move(c));
  }
  for (const auto& sparse : graph.sparse_initializer()) constants.push_back({printable(sparse.values().name()), {}, "it is a sparse tensor"});
  return constants;
}

ParsedBody read_body(const std::string& attribute, onnx::GraphProto& graph, const Imports& imports, ExternalData& external) {
  ParsedBody body;
  body.attribute = attribute;
  body.constants = read_constants(graph, external);
  for (const auto& input : graph.input()) body.inputs.push_back(read_input(input));
  for (const auto& output : graph.output()) body.outputs.push_back(printable(output.name()));
  for (auto& node : *graph.mutable_node()) body.nodes.push_back(read_node(node, imports, external));
  return body;
}

ParsedFunction read_function(onnx::FunctionProto& proto, ExternalData& external) {
  ParsedFunction f;
  f.name = printable(proto.name());
  f.domain = domain_of(proto.domain());
  f.overload = overload_of(proto.unknown_fields(), kFunctionOverload);
  f.inputs = printable_names(proto.input());
  f.outputs = printable_names(proto.output());
  for (const std::string& bytes : undecoded(proto.unknown_fields(), kFunctionDefaults)) {
    onnx::AttributeProto a;
    if (!a.ParseFromString(bytes)) bad(fmt::format("function '{}' has a damaged attribute", shown(f.name)));
    std::string refusal;  // a default that cannot be represented matters only where a body refers to it
    if (auto value = read_attribute(a, fmt::format("function '{}'", shown(f.name)), external, &refusal)) f.defaults[printable(a.name())] = std::move(*value);
  }
  const Imports imports = read_imports(proto.opset_import());
  for (auto& node : *proto.mutable_node()) f.nodes.push_back(read_node(node, imports, external));
  return f;
}

}  // namespace

ParsedModel parse_model(std::string_view bytes, ExternalData& external) {
  if (bytes.size() > INT_MAX)
    bad("the file is larger than 2 GiB, which ONNX cannot hold; save it with external data (onnx.save with "
        "save_as_external_data=True)");
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    bad(fmt::format("not an ONNX model, or damaged or cut off after {} bytes: fetch or export it again", bytes.size()));
  if (!proto.has_graph()) bad("the file holds no graph: it is not an ONNX model, or is cut off; fetch or export it again");
  onnx::GraphProto& graph = *proto.mutable_graph();
  if (graph.output_size() == 0) bad("the model's graph has no outputs; export it again");

  ParsedModel model;
  model.name = printable(graph.name());
  const Imports imports = read_imports(proto.opset_import());
  model.constants = read_constants(graph, external);
  std::set<std::string> constants;
  for (const ParsedConstant& c : model.constants) constants.insert(c.name);
  // Up to IR version 3 every initializer was listed as an input too; its value is the model's all the same.
  for (const auto& input : graph.input()) {
    if (!constants.count(printable(input.name()))) model.inputs.push_back(read_input(input));
    else if (proto.ir_version() >= kDefaultsCanBeReplaced) model.defaults.push_back(read_input(input));
  }
  for (const auto& output : graph.output()) model.outputs.push_back(printable(output.name()));
  for (auto& function : *proto.mutable_functions()) model.functions.push_back(read_function(function, external));
  for (auto& node : *graph.mutable_node()) model.nodes.push_back(read_node(node, imports, external));
  return model;
}

void take_inputs(ParsedModel& model, const std::set<std::string>& given) {
  for (ParsedInput& input : model.defaults) {
    const auto constant = std::find_if(model.constants.begin(), model.constants.end(), [&](const ParsedConstant& c) { return c.name == input.name; });
    if (!given.count(input.name) || constant == model.constants.end() || !constant->refusal.empty()) continue;
    input.has_shape = true;
    input.dims.clear();
    for (const int64_t d : constant->tensor.shape()) input.dims.push_back({d, ""});
    model.inputs.push_back(input);
    model.constants.erase(constant);
  }
}

}  // namespace amdahl
