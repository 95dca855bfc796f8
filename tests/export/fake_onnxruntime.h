#pragma once
// ONNX Runtime's side of the interface between it and a library of custom operators, as far as exports use it: tables of functions
// by number, as the real one has them, a model file read and its nodes run in order. What is called and is not played here ends
// the test with its number.

#include <dlfcn.h>
#include <onnx/onnx_pb.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graph/onnx/onnx_tensor.h"
#include "graph/onnx_types.h"

namespace amdahl::testing {

class FakeOnnxRuntime {
  struct Status {
    std::string message;
  };
  struct Domain {
    std::string name;
    std::map<std::string, const void*> ops;
  };
  using Domains = std::map<std::string, Domain*>;
  struct Value {
    void* data = nullptr;
  };
  struct Info {
    const onnx::NodeProto* node;
    const std::map<std::string, Value>* constants;
  };
  struct Context {
    const void* op;
    std::vector<const Value*> inputs;
    std::vector<Tensor> made;
    std::vector<Value> outputs;
  };
  struct Base {
    void** (*api)(uint32_t version);
    const char* (*version)();
  };

 public:
  using Values = std::map<std::string, Tensor>;

  // `newest`: the last version of the interface that it offers. One plays at a time.
  explicit FakeOnnxRuntime(uint32_t newest = 16) {
    newest_ = newest;
    fill_table(std::make_index_sequence<kPlaces>());
    set(
        0, +[](int, const char* message) { return new Status{message}; });
    set(
        26, +[](const char* name, Domain** made) {
          return ok(*made = new Domain{name, {}});
        });
    set(
        27, +[](Domain* domain, const void* op) { return ok(domain->ops[operator_name(op)] = op); });
    set(
        28, +[](Domains* options, Domain* domain) { return ok((*options)[domain->name] = domain); });
    set(
        51, +[](Value* value, void** data) { return ok(*data = value->data); });
    set(
        86, +[](const Info* info, const char* name, int64_t* value) { return attribute(*info->node, name, value); });
    set(
        90, +[](const Context* context, size_t i, const Value** value) { return ok(*value = context->inputs.at(i)); });
    set(
        91,
        +[](Context* context, size_t i, const int64_t* shape, size_t rank, Value** value) { return output(context, i, Shape(shape, shape + rank), value); });
    set(
        249, +[](const Info* info, size_t i, int* is_constant, const Value** value) {
          const auto at = info->constants->find(info->node->input(static_cast<int>(i)));
          *is_constant = at != info->constants->end();
          return ok(*value = *is_constant ? &at->second : nullptr);
        });
  }

  // What RegisterCustomOps answers; "": it has registered its operators.
  std::string load(const std::string& library) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return dlerror();
    const auto entry = reinterpret_cast<Status* (*)(Domains*, const Base*)>(dlsym(handle, "RegisterCustomOps"));
    if (!entry) return "there is no RegisterCustomOps";
    static const Base base{+[](uint32_t version) -> void** { return version <= newest_ ? table_.data() : nullptr; }, +[] { return "1.99.0-fake"; }};
    return taken(entry(&domains_, &base));
  }

  // Throws std::runtime_error with the library's words when it refuses a node.
  class Session {
   public:
    Session(const FakeOnnxRuntime& runtime, const std::string& path) {
      std::ifstream in(path, std::ios::binary);
      if (!model_.ParseFromIstream(&in)) throw std::runtime_error("not a model: " + path);
      ExternalData external(path.substr(0, path.rfind('/')));
      std::string refusal;
      for (onnx::TensorProto& t : *model_.mutable_graph()->mutable_initializer()) {
        initializers_[t.name()] = read_tensor(t, t.name(), &external, &refusal);
        constants_[t.name()] = {const_cast<std::byte*>(initializers_[t.name()].data())};
      }
      for (const onnx::NodeProto& node : model_.graph().node()) steps_.push_back(make_step(runtime, node));
    }
    ~Session() {
      for (const Step& step : steps_)
        if (step.kernel) function<void(void*)>(step.op, 9)(step.kernel);
    }
    Session(const Session&) = delete;

    // Safe to call from several threads, as the real one's.
    Values run(Values values) const {
      values.insert(initializers_.begin(), initializers_.end());
      for (const Step& step : steps_) run_step(step, &values);
      return values;
    }

   private:
    struct Step {
      const onnx::NodeProto* node;
      const void* op;  // null: Reshape, the only operator of ONNX's own that is played
      void* kernel;
    };

    Step make_step(const FakeOnnxRuntime& runtime, const onnx::NodeProto& node) const {
      if (node.domain().empty() && node.op_type() == "Reshape") return {&node, nullptr, nullptr};
      const void* op = runtime.domains_.at(node.domain())->ops.at(node.op_type());
      if (function<size_t(const void*)>(op, 5)(op) != static_cast<size_t>(node.input_size())) throw std::runtime_error(node.name() + ": inputs");
      if (function<size_t(const void*)>(op, 7)(op) != static_cast<size_t>(node.output_size())) throw std::runtime_error(node.name() + ": outputs");
      const Info info{&node, &constants_};
      void* kernel = nullptr;
      const std::string refused = taken(function<Status*(const void*, void**, const Info*, void**)>(op, 17)(op, table_.data(), &info, &kernel));
      if (!refused.empty()) throw std::runtime_error(refused);
      return {&node, op, kernel};
    }

    static void run_step(const Step& step, Values* values) {
      if (!step.op) {
        (*values)[step.node->output(0)] = values->at(step.node->input(0)).reshaped(to_ints(values->at(step.node->input(1))));
        return;
      }
      Context context{
          step.op, {}, std::vector<Tensor>(static_cast<size_t>(step.node->output_size())), std::vector<Value>(static_cast<size_t>(step.node->output_size()))};
      std::vector<Value> inputs;
      for (int i = 0; i < step.node->input_size(); ++i) {
        const Tensor& tensor = values->at(step.node->input(i));
        if (function<int(const void*, size_t)>(step.op, 4)(step.op, static_cast<size_t>(i)) != onnx_of_dtype(tensor.dtype()))
          throw std::runtime_error(step.node->name() + ": type of input " + std::to_string(i));
        inputs.push_back({const_cast<std::byte*>(tensor.data())});
      }
      for (Value& value : inputs) context.inputs.push_back(&value);
      const std::string failed = taken(function<Status*(void*, Context*)>(step.op, 18)(step.kernel, &context));
      if (!failed.empty()) throw std::runtime_error(failed);
      for (int o = 0; o < step.node->output_size(); ++o) (*values)[step.node->output(o)] = context.made[static_cast<size_t>(o)];
    }

    onnx::ModelProto model_;
    Values initializers_;
    std::map<std::string, Value> constants_;
    std::vector<Step> steps_;
  };

 private:
  static constexpr size_t kPlaces = 255;  // of version 15, and beyond it nothing is used

  // Field `place` of an operator's table; field 0 is a number.
  template <typename F>
  static F* function(const void* op, size_t place) {
    return reinterpret_cast<F*>(static_cast<void* const*>(op)[place]);
  }
  static std::string operator_name(const void* op) { return function<const char*(const void*)>(op, 2)(op); }

  template <typename T>
  static Status* ok(const T&) {
    return nullptr;
  }
  static std::string taken(Status* status) { return status ? std::unique_ptr<Status>(status)->message : ""; }

  static Status* attribute(const onnx::NodeProto& node, const std::string& name, int64_t* value) {
    for (const onnx::AttributeProto& a : node.attribute())
      if (a.name() == name) return ok(*value = a.i());
    return new Status{"no attribute " + name};
  }

  static Status* output(Context* context, size_t i, const Shape& shape, Value** value) {
    std::byte* data = nullptr;
    const auto type = dtype_of_onnx(function<int(const void*, size_t)>(context->op, 6)(context->op, i));
    context->made.at(i) = Tensor::allocate(*type, shape, &data);
    context->outputs.at(i).data = data;
    return ok(*value = &context->outputs.at(i));
  }

  template <size_t Place>
  static void not_played() {
    std::fprintf(stderr, "place %zu of the interface is not played\n", Place);
    std::abort();
  }
  template <size_t... Place>
  static void fill_table(std::index_sequence<Place...>) {
    table_ = {reinterpret_cast<void*>(&not_played<Place>)...};
  }
  template <typename F>
  static void set(size_t place, F* function) {
    table_.at(place) = reinterpret_cast<void*>(function);
  }

  static inline std::array<void*, kPlaces> table_;
  static inline uint32_t newest_;
  Domains domains_;
};

}  // namespace amdahl::testing
