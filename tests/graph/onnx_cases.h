#pragma once
// The ONNX project's own operator and model cases (Debian package libonnx-testdata), ready to be run by the interpreter, by
// compiled kernels, or to seed the fuzzer. Left out: the nine `real` ones, topologies whose expected outputs are constants.

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/onnx/onnx_load.h"
#include "graph/onnx/onnx_tensor.h"
#include "graph/onnx/opset_upgrade.h"
#include "graph/op.h"
#include "graph/oracle.h"

namespace amdahl::testing {

inline const std::filesystem::path kOnnxData = "/usr/share/libonnx-testdata/data";

struct OnnxCase {
  std::string group, name;
  onnx::ModelProto model;
  std::vector<std::filesystem::path> inputs;  // in the order of the graph's inputs that are no initializers
  std::vector<std::filesystem::path> outputs;
};

inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Every case, sorted by group and name; empty when the package is not installed.
inline std::vector<OnnxCase> onnx_cases() {
  namespace fs = std::filesystem;
  std::vector<OnnxCase> cases;
  const auto numbered = [](const fs::path& folder, const std::string& stem) {
    std::vector<fs::path> files;
    while (fs::exists(folder / (stem + std::to_string(files.size()) + ".pb"))) files.push_back(folder / (stem + std::to_string(files.size()) + ".pb"));
    return files;
  };
  for (const char* group : {"node", "simple", "pytorch-operator", "pytorch-converted"}) {
    if (!fs::exists(kOnnxData / group)) continue;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(kOnnxData / group))
      if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    for (const fs::path& folder : folders) {
      OnnxCase c{group, folder.filename(), {}, numbered(folder / "test_data_set_0", "input_"), numbered(folder / "test_data_set_0", "output_")};
      if (!c.model.ParseFromString(read_whole(folder / "model.onnx"))) throw std::runtime_error(folder.string() + " does not parse");
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

// `declared`: the element type in the model. These files keep bfloat16 as the bits in an unsigned integer.
inline onnx::TensorProto read_case_proto(const std::filesystem::path& path, int declared) {
  onnx::TensorProto proto;
  if (!proto.ParseFromString(read_whole(path))) throw std::runtime_error(path.string() + " does not parse");
  if (declared == onnx::TensorProto::BFLOAT16 && proto.data_type() == onnx::TensorProto::UINT16) proto.set_data_type(onnx::TensorProto::BFLOAT16);
  return proto;
}

inline Tensor case_tensor(onnx::TensorProto proto) {
  std::string refusal;
  Tensor t = read_tensor(proto, proto.name(), nullptr, &refusal);
  if (!refusal.empty()) throw Error(ExitCode::kUnsupported, refusal);
  return t;
}

inline Tensor expected_output(const OnnxCase& c, size_t i) {
  return case_tensor(read_case_proto(c.outputs[i], c.model.graph().output(static_cast<int>(i)).type().tensor_type().elem_type()));
}

// The loader begins at opset 9. Nodes of 6 to 8 mean the same there, apart from what 7 made the only way: broadcasting
// from the right (so that an `axis` which says just that says nothing), and inference without `is_test`. These cases' nodes
// of opset 1 are all of operators that never changed.
inline void read_as_opset_9(onnx::ModelProto& model) {
  static const std::set<std::string> kNeverChanged = {"GlobalAveragePool", "GlobalMaxPool", "Not", "Softplus", "Softsign"};
  std::map<std::string, int> rank;
  for (const auto& i : model.graph().input()) rank[i.name()] = i.type().tensor_type().shape().dim_size();
  const bool unchanged =
      std::all_of(model.graph().node().begin(), model.graph().node().end(), [](const onnx::NodeProto& n) { return kNeverChanged.count(n.op_type()) > 0; });
  for (auto& import : *model.mutable_opset_import())
    if (import.domain().empty() && import.version() >= (unchanged ? 1 : 6) && import.version() < 9) import.set_version(9);
  for (const auto& node : model.graph().node())
    for (const auto& a : node.attribute()) {
      const std::string op = node.op_type();
      const bool arithmetic = op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow" || op == "PRelu";
      const bool from_right = arithmetic && op != "PRelu" && a.name() == "axis" && a.i() == rank[node.input(0)] - rank[node.input(1)];
      if ((arithmetic && a.name() == "axis" && !from_right) || (a.name() == "is_test" && a.i() == 0) || (a.name() == "spatial" && a.i() == 0))
        throw Error(ExitCode::kUnsupported, "attribute '" + a.name() + "' of an opset before 9");
    }
}

// Ones behind the slope of a PRelu of before opset 7: it has an element a channel, and since then broadcasts from the last dimension on. By its name.
inline std::map<std::string, int> ones_behind_slopes(const onnx::ModelProto& model) {
  std::map<std::string, int> ones, rank;
  for (const auto& i : model.graph().input()) rank[i.name()] = i.type().tensor_type().shape().dim_size();
  for (const auto& import : model.opset_import())
    if (import.domain().empty() && import.version() < 7)
      for (const auto& node : model.graph().node())
        if (node.op_type() == "PRelu" && rank[node.input(1)] == 1) ones[node.input(1)] = std::max(0, rank[node.input(0)] - 2);
  return ones;
}

inline void add_ones(onnx::TensorProto& t, const std::map<std::string, int>& ones) {
  const auto found = ones.find(t.name());
  for (int i = 0; found != ones.end() && i < found->second; ++i) t.add_dims(1);
}

// Which inputs become initializers: shapes that depend on data are supported for constants only, while these cases pass
// even a Reshape's target as an input.
enum class Fixed { kNone, kIntegers, kAll };

inline bool is_fixed(const onnx::TensorProto& t, Fixed fixed) {
  const bool is_float = t.data_type() == onnx::TensorProto::FLOAT || t.data_type() == onnx::TensorProto::DOUBLE ||
                        t.data_type() == onnx::TensorProto::FLOAT16 || t.data_type() == onnx::TensorProto::BFLOAT16;
  return fixed == Fixed::kAll || (fixed == Fixed::kIntegers && !is_float);
}

// The case's model with its data's shapes, chosen inputs as initializers, and the data of the others by name.
struct BoundModel {
  onnx::ModelProto model;
  std::map<std::string, onnx::TensorProto> given;
};

inline BoundModel bind_case(const OnnxCase& c, Fixed fixed) {
  BoundModel bound{c.model, {}};
  const std::map<std::string, int> ones = ones_behind_slopes(bound.model);
  read_as_opset_9(bound.model);
  onnx::GraphProto& graph = *bound.model.mutable_graph();
  std::set<std::string> initializers;
  for (auto& i : *graph.mutable_initializer()) {
    initializers.insert(i.name());
    add_ones(i, ones);
  }
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> kept;
  size_t next = 0;
  for (onnx::ValueInfoProto info : graph.input()) {
    if (initializers.count(info.name())) continue;
    const std::filesystem::path file = c.inputs.at(next++);
    if (!info.type().has_tensor_type()) {  // the loader will say so
      *kept.Add() = info;
      continue;
    }
    auto& type = *info.mutable_type()->mutable_tensor_type();
    onnx::TensorProto t = read_case_proto(file, type.elem_type());
    t.set_name(info.name());
    add_ones(t, ones);
    if (is_fixed(t, fixed)) {
      *graph.add_initializer() = t;
      continue;
    }
    // The data's own shape: symbols are set, and a few cases declare another one than they feed.
    type.clear_shape();
    for (int64_t d : t.dims()) type.mutable_shape()->add_dim()->set_dim_value(d);
    type.mutable_shape();
    *kept.Add() = info;
    bound.given[info.name()] = t;
  }
  *graph.mutable_input() = kept;
  return bound;
}

struct LoadedCase {
  Graph graph;
  std::map<ValueId, Tensor> given;
};

inline LoadedCase load_case(const OnnxCase& c, Fixed fixed, bool clean) {
  const BoundModel bound = bind_case(c, fixed);
  LoadOptions options;
  options.clean = clean;
  LoadedCase loaded{load_onnx_bytes(bound.model.SerializeAsString(), "", options), {}};
  for (ValueId v : loaded.graph.inputs) loaded.given[v] = case_tensor(bound.given.at(loaded.graph.value(v).name));
  return loaded;
}

// body(fixed) with as few inputs fixed as it can do with. Throws its last refusal.
template <typename Body>
auto with_few_fixed(Body body) {
  for (Fixed fixed : {Fixed::kNone, Fixed::kIntegers}) {
    try {
      return body(fixed);
    } catch (const Error& e) {
      if (e.code() != ExitCode::kUnsupported) throw;
    }
  }
  return body(Fixed::kAll);
}

inline RefValues interpret(const LoadedCase& loaded) {
  std::vector<NodeId> nodes(loaded.graph.nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) nodes[n] = static_cast<NodeId>(n);
  RefValues given;
  for (const auto& [v, t] : loaded.given) given[v] = RefTensor::of(t);
  return evaluate(loaded.graph, nodes, given, loaded.graph.outputs, true);
}

struct Outcome {
  enum { kPassed, kUnsupported, kFailed } verdict = kPassed;
  bool within_bounds = true;
  std::string reason;
};

inline Outcome failed(const std::string& reason) { return {Outcome::kFailed, false, reason}; }

// Runs `body` and turns what it throws into a verdict: a refusal is "unsupported", anything else a failure.
inline Outcome outcome_of(const std::function<Outcome()>& body) {
  try {
    return body();
  } catch (const Error& e) {
    return e.code() == ExitCode::kUnsupported ? Outcome{Outcome::kUnsupported, false, e.what()} : failed(e.what());
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

// rtol 1e-3 and atol 1e-7 are those of ONNX's own runner. The expected values are themselves rounded: 2u on top of the bound.
inline Outcome compare_with_expected(const RefTensor& got, const Tensor& expected) {
  if (got.dtype != expected.dtype() || got.shape != expected.shape())
    return failed("got " + std::string(name_of(got.dtype)) + to_string(got.shape) + ", expected " + std::string(name_of(expected.dtype())) +
                  to_string(expected.shape()));
  Outcome outcome;
  if (!got.is_float()) {
    const std::vector<int64_t> want = to_ints(expected);
    // Where floats decided them, halfway between two in fp32 or nearly so, either is right.
    for (size_t i = 0; i < want.size(); ++i)
      if (got.ints[i] != want[i] && !(std::fabs(static_cast<double>(got.ints[i]) - static_cast<double>(want[i])) <= got.bound_at(static_cast<int64_t>(i))))
        return failed("integers differ");
    return outcome;
  }
  const double unit = got.dtype == DType::kF16 ? 0x1p-11 : got.dtype == DType::kBF16 ? 0x1p-8 : 0x1p-24;
  const std::vector<double> want = to_doubles(expected);
  for (size_t i = 0; i < want.size(); ++i) {
    const double z = got.value[i];
    if (std::isnan(z) && std::isnan(want[i])) continue;
    if (z == want[i]) continue;
    const double error = std::fabs(z - want[i]);
    if (!(error <= 1e-7 + std::max(1e-3, 4 * unit) * std::fabs(want[i])))
      return failed("element " + std::to_string(i) + ": got " + std::to_string(z) + ", expected " + std::to_string(want[i]));
    if (error > got.bound_at(static_cast<int64_t>(i)) + 2 * unit * std::fabs(want[i])) outcome.within_bounds = false;
  }
  return outcome;
}

// `opset`: as a file of that opset would hold the nodes. 0: as they are.
inline Outcome interpreter_outcome(const OnnxCase& c, int opset = 0) {
  return outcome_of([&] {
    LoadedCase loaded = with_few_fixed([&](Fixed fixed) { return load_case(c, fixed, false); });
    if (opset > 0) upgrade_opset(loaded.graph, opset);
    const RefValues results = interpret(loaded);
    Outcome outcome;
    for (size_t i = 0; i < c.outputs.size() && i < loaded.graph.outputs.size(); ++i) {
      const Outcome one = compare_with_expected(results.at(loaded.graph.outputs[i]), expected_output(c, i));
      if (one.verdict != Outcome::kPassed) return one;
      outcome.within_bounds = outcome.within_bounds && one.within_bounds;
    }
    return outcome;
  });
}

// "ArgMax (ai.onnx 13), node 'x': reason" without the node, so that equal reasons count together.
inline std::string reason_of(const std::string& message) {
  const size_t line = message.find("\n  ");
  std::string text = line == std::string::npos ? message : message.substr(line + 3, message.find('\n', line + 1) - line - 3);
  const size_t node = text.find("node '"), end = text.find("': ", node);
  if (node != std::string::npos && end != std::string::npos) {
    const size_t from = node >= 2 && (text[node - 1] == ' ' || text[node - 1] == '(') ? node - 2 + (text[node - 1] == '(') : node;
    text.replace(from, end + 1 - from, "");
  }
  return text;
}

}  // namespace amdahl::testing
