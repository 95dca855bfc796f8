// Local functions (ModelProto.functions) are macros: a call is its body with names replaced.

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "base/error.h"
#include "graph/op.h"
#include "graph/parsed_model.h"

namespace amdahl {
namespace {

// A chain of functions that each call the next twice doubles at every level, and names grow with every level. No real model comes
// near these.
constexpr size_t kMaxNodes = 200'000, kMaxDepth = 100, kMaxNameBytes = size_t{128} << 20;

std::string key_of(const std::string& domain, const std::string& name, const std::string& overload) {
  return domain + "\n" + name + "\n" + overload;
}

class Inliner {
 public:
  explicit Inliner(ParsedModel& model) : model_(model) {
    for (const ParsedFunction& f : model.functions) {
      const std::string key = key_of(f.domain, f.name, f.overload);
      if (!functions_.emplace(key, &f).second)
        throw Error(ExitCode::kBadModel,
                    fmt::format("function '{}' of domain '{}' is defined twice", f.name, f.domain));
    }
    for (const ParsedInput& i : model.inputs) taken_.insert(i.name);
    for (const ParsedConstant& c : model.constants) taken_.insert(c.name);
    for (const ParsedNode& n : model.nodes) taken_.insert(n.outputs.begin(), n.outputs.end());
  }

  void run() {
    std::vector<ParsedNode> calls = std::move(model_.nodes);
    for (ParsedNode& node : calls) append(std::move(node));
    model_.nodes = std::move(done_);
  }

 private:
  const ParsedFunction* callee(const ParsedNode& node) const {
    const auto f = functions_.find(key_of(node.domain, node.op, node.overload));
    // An operator that we compute ourselves beats the file's expansion of it.
    if (f == functions_.end() || find_op(node.domain, node.op)) return nullptr;
    return f->second;
  }

  void append(ParsedNode node) {
    if (const ParsedFunction* f = callee(node)) return expand(node, *f);
    if (done_.size() >= kMaxNodes)
      throw Error(ExitCode::kBadModel, fmt::format("the model's functions expand to more than {} nodes; inline them before the export", kMaxNodes));
    done_.push_back(std::move(node));
  }

  void expand(const ParsedNode& call, const ParsedFunction& f) {
    const std::string key = key_of(f.domain, f.name, f.overload);
    if (!open_.insert(key).second)
      throw Error(ExitCode::kBadModel, fmt::format("function '{}' of domain '{}' calls itself", f.name, f.domain));
    if (open_.size() > kMaxDepth)
      throw Error(ExitCode::kBadModel, fmt::format("the model's functions call each other more than {} deep; inline them before the export", kMaxDepth));
    if (call.inputs.size() > f.inputs.size() || call.outputs.size() > f.outputs.size())
      throw Error(ExitCode::kBadModel,
                  fmt::format("node '{}' gives function '{}' more inputs or outputs than it has", call.name, f.name));
    const std::string prefix = call.name.empty() ? f.name : call.name;
    std::map<std::string, std::string> names;  // inside -> outside
    names[""] = "";
    for (size_t i = 0; i < f.inputs.size(); ++i) names[f.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : "";
    std::vector<ParsedNode> copies;
    for (size_t i = 0; i < f.outputs.size() && i < call.outputs.size(); ++i) {
      if (call.outputs[i].empty()) continue;
      const auto [entry, fresh] = names.emplace(f.outputs[i], call.outputs[i]);
      if (fresh) continue;
      // The function hands an input through, or one result twice: the caller's name needs a producer of its own.
      ParsedNode copy;
      copy.name = fmt::format("{}/{}", prefix, f.outputs[i]);
      copy.op = "Identity";
      copy.version = call.version;
      copy.inputs = {entry->second};
      copy.outputs = {call.outputs[i]};
      copies.push_back(std::move(copy));
    }
    for (const ParsedNode& inner : f.nodes) append(instance(inner, call, f, prefix, names));
    for (ParsedNode& copy : copies) append(std::move(copy));
    open_.erase(key);
  }

  ParsedNode instance(const ParsedNode& inner, const ParsedNode& call, const ParsedFunction& f,
                      const std::string& prefix, std::map<std::string, std::string>& names) {
    ParsedNode node = inner;
    node.name = fmt::format("{}/{}", prefix, inner.name.empty() ? inner.op : inner.name);
    for (auto* list : {&node.inputs, &node.outputs})
      for (std::string& name : *list) {
        const auto [entry, fresh] = names.emplace(name, "");
        if (fresh) entry->second = unused(prefix + "/" + name);
        name = entry->second;
      }
    for (const auto& [own, outer] : inner.references) {
      const auto given = call.attributes.find(outer);
      if (given != call.attributes.end())
        node.attributes[own] = given->second;
      else if (const auto d = f.defaults.find(outer); d != f.defaults.end())
        node.attributes[own] = d->second;
      // Given by neither: the attribute is left out, as ONNX says.
    }
    node.references.clear();
    return node;
  }

  std::string unused(std::string name) {
    name_bytes_ += name.size();
    if (name_bytes_ > kMaxNameBytes)
      throw Error(ExitCode::kBadModel, "the names of the model's functions and values grow beyond measure; inline them before the export");
    if (taken_.insert(name).second) return name;
    int& next = next_number_.try_emplace(name, 2).first->second;  // from 2 each time, many equal names would take hours
    const std::string base = name;
    do name = fmt::format("{}_{}", base, next++);
    while (!taken_.insert(name).second);
    return name;
  }

  ParsedModel& model_;
  std::map<std::string, const ParsedFunction*> functions_;
  std::set<std::string> taken_, open_;
  std::vector<ParsedNode> done_;
  size_t name_bytes_ = 0;
  std::unordered_map<std::string, int> next_number_;  // by base name
};

}  // namespace

void inline_functions(ParsedModel& model) {
  Inliner(model).run();
  model.functions.clear();
}

}  // namespace amdahl
