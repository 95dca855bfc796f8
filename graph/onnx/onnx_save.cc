// Graph to ONNX, for other runtimes to load.

#include "graph/onnx/onnx_save.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "graph/onnx/opset_upgrade.h"
#include "graph/onnx_types.h"

namespace amdahl {
namespace {

namespace fs = std::filesystem;

constexpr int kOpset = 17;             // what every runtime in use loads; newer only where a node needs it
constexpr size_t kInlineBytes = 1024;  // shapes, axes, biases of small layers stay readable in the model file
constexpr size_t kExternalAlign = 64;  // cache line, and vectors of any width

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(ExitCode::kIo, fmt::format("cannot write '{}': is the folder there and writable, the disk full?", path));
}

// Written beside its place and renamed: a model whose weights are mapped from the very file that is replaced stays
// whole, and a full disk leaves the old file.
class ReplacedFile {
 public:
  explicit ReplacedFile(const std::string& path) : path_(path), out_(path + ".part", std::ios::binary) {
    std::error_code ignored;
    const bool taken = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);  // a device must not be replaced
    if (!out_ || taken) {
      fs::remove(path + ".part", ignored);
      cannot_write(path);
    }
  }
  ~ReplacedFile() {
    std::error_code ignored;
    if (!done_) fs::remove(path_ + ".part", ignored);
  }
  std::ofstream& stream() { return out_; }
  void finish() {
    out_.close();
    std::error_code error;
    if (out_) fs::rename(path_ + ".part", path_, error);
    if (!out_ || error) cannot_write(path_);
    done_ = true;
  }

 private:
  std::string path_;
  std::ofstream out_;
  bool done_ = false;
};

// A name for every value: inputs and outputs keep theirs, the others theirs or, where it is taken, one with a number.
std::vector<std::string> unique_names(const Graph& graph) {
  std::vector<std::string> names(graph.values.size());
  std::set<std::string> taken;
  const auto give = [&](ValueId v) {
    std::string& name = names[static_cast<size_t>(v)];
    if (!name.empty()) return;
    const std::string base = graph.value(v).name.empty() ? fmt::format("value_{}", v) : graph.value(v).name;
    name = base;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  };
  for (ValueId v : graph.inputs) give(v);
  for (ValueId v : graph.outputs) give(v);
  for (size_t v = 0; v < graph.values.size(); ++v) give(static_cast<ValueId>(v));
  return names;
}

void write_type(const Value& value, onnx::ValueInfoProto* info) {
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx_of_dtype(value.dtype));
  auto* shape = type->mutable_shape();
  for (int64_t d : value.shape) shape->add_dim()->set_dim_value(d);
}

void write_tensor_type(const Tensor& tensor, onnx::TensorProto* proto) {
  proto->set_data_type(onnx_of_dtype(tensor.dtype()));
  for (int64_t d : tensor.shape()) proto->add_dims(d);
}

void write_inline(const Tensor& tensor, onnx::TensorProto* proto) {
  write_tensor_type(tensor, proto);
  proto->set_raw_data(tensor.data(), tensor.bytes());
}

void write_attribute(const std::string& name, const Attribute& value, onnx::AttributeProto* a) {
  using A = onnx::AttributeProto;
  a->set_name(name);
  if (const auto* i = std::get_if<int64_t>(&value)) {
    a->set_type(A::INT);
    a->set_i(*i);
  } else if (const auto* f = std::get_if<double>(&value)) {
    a->set_type(A::FLOAT);
    a->set_f(static_cast<float>(*f));
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    a->set_type(A::STRING);
    a->set_s(*s);
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    a->set_type(A::INTS);
    for (int64_t v : *ints) a->add_ints(v);
  } else if (const auto* floats = std::get_if<std::vector<double>>(&value)) {
    a->set_type(A::FLOATS);
    for (double v : *floats) a->add_floats(static_cast<float>(v));
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
    a->set_type(A::STRINGS);
    for (const std::string& v : *strings) a->add_strings(v);
  } else {
    a->set_type(A::TENSOR);
    write_inline(std::get<Tensor>(value), a->mutable_t());
  }
}

void write_node(const Node& node, const std::vector<std::string>& names, onnx::NodeProto* proto) {
  proto->set_name(node.name);
  proto->set_domain(node.domain);
  proto->set_op_type(node.op);
  for (ValueId v : node.inputs) proto->add_input(v == kNoValue ? "" : names[static_cast<size_t>(v)]);
  for (ValueId v : node.outputs) proto->add_output(v == kNoValue ? "" : names[static_cast<size_t>(v)]);
  for (const auto& [name, value] : node.attributes) write_attribute(name, value, proto->add_attribute());
}

void write_external(const Tensor& tensor, const std::string& location, std::ofstream& out, onnx::TensorProto* proto) {
  write_tensor_type(tensor, proto);
  static constexpr char kZeros[kExternalAlign] = {};
  auto offset = static_cast<size_t>(out.tellp());
  const size_t padding = (kExternalAlign - offset % kExternalAlign) % kExternalAlign;
  out.write(kZeros, static_cast<std::streamsize>(padding));
  out.write(reinterpret_cast<const char*>(tensor.data()), static_cast<std::streamsize>(tensor.bytes()));
  offset += padding;
  proto->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    auto* entry = proto->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", location);
  add("offset", std::to_string(offset));
  add("length", std::to_string(tensor.bytes()));
}

void write_opsets(const Graph& graph, int opset, onnx::ModelProto* model) {
  std::map<std::string, int> imports = {{"", opset}};
  for (const Node& node : graph.nodes)
    if (!node.domain.empty()) imports[node.domain] = std::max(imports[node.domain], node.version);
  for (const auto& [domain, version] : imports) {
    auto* import = model->add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
}

// Types and shapes of what nodes hand to nodes: nothing can infer those of operators that only one library knows.
void write_values(const Graph& graph, const Uses& uses, const std::vector<std::string>& names, onnx::GraphProto* proto) {
  const auto write_info = [&](ValueId v, onnx::ValueInfoProto* info) {
    info->set_name(names[static_cast<size_t>(v)]);
    write_type(graph.value(v), info);
  };
  for (ValueId v : graph.inputs) write_info(v, proto->add_input());
  for (ValueId v : graph.outputs) write_info(v, proto->add_output());
  const std::set<ValueId> outputs(graph.outputs.begin(), graph.outputs.end());
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const auto id = static_cast<ValueId>(v);
    if (uses.producer[v] >= 0 && !outputs.count(id)) write_info(id, proto->add_value_info());
  }
}

void write_initializers(const Graph& graph, const Uses& uses, const std::vector<std::string>& names, const std::string& path, bool external,
                        onnx::GraphProto* proto) {
  const std::string data_path = path + ".data";
  std::optional<ReplacedFile> data;
  if (external) data.emplace(data_path);
  size_t inline_bytes = 0;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const auto& constant = graph.values[v].constant;
    if (!constant || uses.producer[v] >= 0) continue;
    onnx::TensorProto* tensor = proto->add_initializer();
    tensor->set_name(names[v]);
    if (data && constant->bytes() > kInlineBytes) {
      write_external(*constant, fs::path(data_path).filename().string(), data->stream(), tensor);
      continue;
    }
    inline_bytes += constant->bytes();
    if (inline_bytes > INT_MAX)
      throw Error(ExitCode::kUsage, fmt::format("'{}' would be larger than 2 GiB, which ONNX cannot hold; save it with "
                                                "external data",
                                                path));
    write_inline(*constant, tensor);
  }
  if (data) data->finish();
}

void write_notes(const OnnxNotes& notes, const Graph& graph, onnx::ModelProto* model) {
  model->set_doc_string(notes.text);
  for (const auto& [key, value] : notes.metadata) {
    auto* entry = model->add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto note = notes.nodes.find(graph.nodes[n].outputs[0]);
    if (note != notes.nodes.end()) model->mutable_graph()->mutable_node(static_cast<int>(n))->set_doc_string(note->second);
  }
}

}  // namespace

void save_onnx(const Graph& original, const std::string& path, bool external, const OnnxNotes& notes) {
  Graph graph = original;
  int opset = kOpset;
  for (const Node& node : graph.nodes)
    if (node.domain.empty()) opset = std::max(opset, node.version);
  upgrade_opset(graph, opset);

  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("amdahl");
  write_opsets(graph, opset, &model);
  onnx::GraphProto* proto = model.mutable_graph();
  proto->set_name(graph.name.empty() ? "graph" : graph.name);
  const std::vector<std::string> names = unique_names(graph);
  const Uses uses = uses_of(graph);
  write_values(graph, uses, names, proto);
  for (const Node& node : graph.nodes) write_node(node, names, proto->add_node());
  write_initializers(graph, uses, names, path, external, proto);
  write_notes(notes, graph, &model);
  ReplacedFile file(path);
  if (!model.SerializeToOstream(&file.stream())) cannot_write(path);
  file.finish();
}

}  // namespace amdahl
