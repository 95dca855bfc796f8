#pragma once
// Tiny ONNX models for tests, written with the protobuf classes: valid by default, and easy to break on purpose.

#include <onnx/onnx_pb.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/onnx/onnx_load.h"

namespace amdahl::testing {

class ModelMaker {
 public:
  explicit ModelMaker(int opset = 17) {
    proto.set_ir_version(8);
    auto* import = proto.add_opset_import();
    import->set_domain("");
    import->set_version(opset);
    proto.mutable_graph()->set_name("test");
  }

  // Dimensions: "2" is fixed, "batch" a symbol, "" unknown.
  ModelMaker& input(const std::string& name, const std::vector<std::string>& dims, int elem_type = onnx::TensorProto::FLOAT) {
    auto* info = proto.mutable_graph()->add_input();
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(elem_type);
    auto* shape = type->mutable_shape();
    for (const std::string& d : dims) {
      auto* dim = shape->add_dim();
      if (d.empty()) continue;
      if (d.find_first_not_of("0123456789") == std::string::npos) dim->set_dim_value(std::stoll(d));
      else dim->set_dim_param(d);
    }
    return *this;
  }

  ModelMaker& output(const std::string& name) {
    proto.mutable_graph()->add_output()->set_name(name);
    return *this;
  }

  onnx::TensorProto& initializer(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
    auto* t = proto.mutable_graph()->add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t d : dims) t->add_dims(d);
    for (float v : values) t->add_float_data(v);
    return *t;
  }

  onnx::TensorProto& initializer_i64(const std::string& name, const std::vector<int64_t>& values) {
    auto* t = proto.mutable_graph()->add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::INT64);
    t->add_dims(static_cast<int64_t>(values.size()));
    for (int64_t v : values) t->add_int64_data(v);
    return *t;
  }

  // Float weights that live in `location` beside the model.
  onnx::TensorProto& external(const std::string& name, const std::vector<int64_t>& dims, const std::string& location, int64_t offset = -1,
                              int64_t length = -1) {
    onnx::TensorProto& t = initializer(name, dims, {});
    t.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto add = [&](const char* key, const std::string& value) {
      auto* entry = t.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", location);
    if (offset >= 0) add("offset", std::to_string(offset));
    if (length >= 0) add("length", std::to_string(length));
    return t;
  }

  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs, const std::string& name = "") {
    return fill(*proto.mutable_graph()->add_node(), op, inputs, outputs, name);
  }

  static onnx::NodeProto& fill(onnx::NodeProto& n, const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                               const std::string& name = "") {
    n.set_op_type(op);
    n.set_name(name.empty() ? op + "_" + outputs[0] : name);
    for (const auto& i : inputs) n.add_input(i);
    for (const auto& o : outputs) n.add_output(o);
    return n;
  }

  std::string bytes() const { return proto.SerializeAsString(); }

  onnx::ModelProto proto;
};

inline Graph loaded(const ModelMaker& model) { return load_onnx_bytes(model.bytes(), "", {}); }

inline onnx::AttributeProto& set_int(onnx::NodeProto& n, const std::string& name, int64_t value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(value);
  return *a;
}

inline onnx::AttributeProto& set_float(onnx::NodeProto& n, const std::string& name, float value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::FLOAT);
  a->set_f(value);
  return *a;
}

inline onnx::AttributeProto& set_ints(onnx::NodeProto& n, const std::string& name, const std::vector<int64_t>& values) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INTS);
  for (int64_t v : values) a->add_ints(v);
  return *a;
}

inline onnx::AttributeProto& set_string(onnx::NodeProto& n, const std::string& name, const std::string& value) {
  auto* a = n.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::STRING);
  a->set_s(value);
  return *a;
}

}  // namespace amdahl::testing
