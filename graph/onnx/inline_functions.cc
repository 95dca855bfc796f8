// Local functions (ModelProto.functions) are macros: a call is its body with names replaced.

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/printable.h"
#include "graph/onnx/parsed_model.h"
#include "graph/op.h"

namespace amdahl {
namespace {

// A chain of functions that each call the next twice doubles at every level, names grow with every level, and each call takes a
// copy of what the body holds. No real model comes near these.
constexpr size_t kMaxNodes = 200'000, kMaxDepth = 100, kMaxBytes = size_t{512} << 20;

size_t bytes_of(const std::vector<std::string>& names) {
  size_t bytes = names.size() * sizeof(std::string);
  for (const std::string& name : names) bytes += name.size();
  return bytes;
}

size_t bytes_of(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return text->size();
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&attribute)) return ints->size() * sizeof(int64_t);
  if (const auto* floats = std::get_if<std::vector<double>>(&attribute)) return floats->size() * sizeof(double);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute)) return bytes_of(*texts);
  return 0;  // a tensor is shared
}

size_t bytes_of(const ParsedBody& body);

// What a copy of the node takes, without the node itself.
size_t bytes_of(const ParsedNode& node) {
  size_t bytes = node.name.size() + bytes_of(node.inputs) + bytes_of(node.outputs);
  for (const auto& [name, value] : node.attributes) bytes += name.size() + bytes_of(value);
  for (const ParsedBody& body : node.bodies) bytes += bytes_of(body);
  return bytes;
}

size_t bytes_of(const ParsedBody& body) {
  size_t bytes = bytes_of(body.outputs);
  for (const ParsedInput& i : body.inputs) bytes += sizeof i + i.name.size();
  for (const ParsedConstant& c : body.constants) bytes += sizeof c + c.name.size();  // its tensor is shared
  for (const ParsedNode& node : body.nodes) bytes += sizeof node + bytes_of(node);
  return bytes;
}

std::string key_of(const std::string& domain, const std::string& name, const std::string& overload) { return domain + "\n" + name + "\n" + overload; }

class Inliner {
 public:
  explicit Inliner(ParsedModel& model) : model_(model) {
    for (const ParsedFunction& f : model.functions) {
      const std::string key = key_of(f.domain, f.name, f.overload);
      if (!functions_.emplace(key, &f).second)
        throw Error(ExitCode::kBadModel, fmt::format("function '{}' of domain '{}' is defined twice", shown(f.name), shown(f.domain)));
    }
    for (const ParsedInput& i : model.inputs) taken_.insert(i.name);
    for (const ParsedConstant& c : model.constants) taken_.insert(c.name);
    for (const ParsedNode& n : model.nodes) taken_.insert(n.outputs.begin(), n.outputs.end());
  }

  void run() { open_all(model_.nodes); }

 private:
  const ParsedFunction* callee(const ParsedNode& node) const {
    const auto f = functions_.find(key_of(node.domain, node.op, node.overload));
    // An operator that we compute ourselves beats the file's expansion of it.
    if (f == functions_.end() || find_op(node.domain, node.op)) return nullptr;
    return f->second;
  }

  // Bodies of the functions that are called stand in the place of calls.
  void open_all(std::vector<ParsedNode>& nodes) {
    std::vector<ParsedNode> calls = std::move(nodes), done;
    for (ParsedNode& node : calls) append(std::move(node), done);
    nodes = std::move(done);
  }

  void append(ParsedNode node, std::vector<ParsedNode>& done) {
    if (const ParsedFunction* f = callee(node)) return expand(node, *f, done);
    if (++count_ > kMaxNodes)
      throw Error(ExitCode::kBadModel, fmt::format("the model's functions expand to more than {} nodes; inline them before the export", kMaxNodes));
    for (ParsedBody& body : node.bodies) open_all(body.nodes);
    done.push_back(std::move(node));
  }

  void expand(const ParsedNode& call, const ParsedFunction& f, std::vector<ParsedNode>& done) {
    const std::string key = key_of(f.domain, f.name, f.overload);
    if (!open_.insert(key).second) throw Error(ExitCode::kBadModel, fmt::format("function '{}' of domain '{}' calls itself", shown(f.name), shown(f.domain)));
    if (open_.size() > kMaxDepth)
      throw Error(ExitCode::kBadModel, fmt::format("the model's functions call each other more than {} deep; inline them before the export", kMaxDepth));
    if (call.inputs.size() > f.inputs.size() || call.outputs.size() > f.outputs.size())
      throw Error(ExitCode::kBadModel, fmt::format("node '{}' gives function '{}' more inputs or outputs than it has", shown(call.name), shown(f.name)));
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
    for (const ParsedNode& inner : f.nodes) append(instance(inner, call, f, prefix, names), done);
    for (ParsedNode& copy : copies) append(std::move(copy), done);
    open_.erase(key);
  }

  ParsedNode instance(const ParsedNode& inner, const ParsedNode& call, const ParsedFunction& f, const std::string& prefix,
                      std::map<std::string, std::string>& names) {
    count(bytes_of(inner) + prefix.size());
    ParsedNode node = inner;
    node.name = fmt::format("{}/{}", prefix, inner.name.empty() ? inner.op : inner.name);
    for (auto* list : {&node.inputs, &node.outputs})
      for (std::string& name : *list) {
        const auto [entry, fresh] = names.emplace(name, "");
        if (fresh) entry->second = unused(prefix + "/" + name);
        name = entry->second;
      }
    fill_attributes(node, call, f);
    for (ParsedBody& body : node.bodies) rename_inside(body, call, f, names);
    return node;
  }

  // What a function's node is given by the attributes of the call.
  void fill_attributes(ParsedNode& node, const ParsedNode& call, const ParsedFunction& f) {
    for (const auto& [own, outer] : node.references) {
      const Attribute* given = find(call.attributes, outer);
      if (!given) given = find(f.defaults, outer);
      if (!given) continue;  // the attribute is left out, as ONNX says
      count(bytes_of(*given));
      node.attributes[own] = *given;
    }
    node.references.clear();
  }

  // In the body of control flow only what the function has named is renamed: the body's own names are seen nowhere else.
  void rename_inside(ParsedBody& body, const ParsedNode& call, const ParsedFunction& f, const std::map<std::string, std::string>& names) {
    const auto rename = [&](std::vector<std::string>& list) {
      for (std::string& name : list)
        if (const auto known = names.find(name); known != names.end()) name = known->second;
    };
    rename(body.outputs);
    for (ParsedNode& node : body.nodes) {
      rename(node.inputs);
      fill_attributes(node, call, f);
      for (ParsedBody& inner : node.bodies) rename_inside(inner, call, f, names);
    }
  }

  static const Attribute* find(const std::map<std::string, Attribute>& attributes, const std::string& name) {
    const auto at = attributes.find(name);
    return at == attributes.end() ? nullptr : &at->second;
  }

  void count(size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMaxBytes)
      throw Error(ExitCode::kBadModel, "the names and attributes of the model's functions grow beyond measure; inline them before the export");
  }

  std::string unused(std::string name) {
    count(name.size());
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
  size_t count_ = 0, bytes_ = 0;
  std::unordered_map<std::string, int> next_number_;  // by base name
};

}  // namespace

void inline_functions(ParsedModel& model) {
  Inliner(model).run();
  model.functions.clear();
}

}  // namespace amdahl
