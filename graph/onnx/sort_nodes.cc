#include <fmt/format.h>

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/printable.h"
#include "graph/onnx/parsed_model.h"

namespace amdahl {
namespace {

constexpr int kGiven = -1;  // an input or a constant

[[noreturn]] void bad(const std::string& message) { throw Error(ExitCode::kBadModel, message); }

std::string describe(const ParsedNode& node) { return fmt::format("node '{}' ({})", shown(node.name), shown(node.op)); }

using Producers = std::unordered_map<std::string, int>;  // value name -> node index or kGiven

// The graph of a model, or one inside a node: what stands around it can be read too.
struct View {
  const std::vector<ParsedInput>& inputs;
  const std::vector<ParsedConstant>& constants;
  std::vector<ParsedNode>& nodes;
  const std::vector<std::string>& outputs;
  const View* around = nullptr;
  Producers producers = {};

  bool knows(const std::string& name) const { return producers.count(name) > 0 || (around && around->knows(name)); }
};

Producers producers_of(const View& view) {
  Producers producers;
  const auto add = [&](const std::string& name, int node) {
    if (name.empty() && node == kGiven) bad("an input or initializer has no name");
    if (!name.empty() && !producers.emplace(name, node).second)
      bad(fmt::format("the name '{}' is given to two values; the file is damaged, export it again", shown(name)));
  };
  for (const ParsedInput& i : view.inputs) add(i.name, kGiven);
  for (const ParsedConstant& c : view.constants) add(c.name, kGiven);
  for (size_t n = 0; n < view.nodes.size(); ++n)
    for (const std::string& name : view.nodes[n].outputs) add(name, static_cast<int>(n));
  return producers;
}

using Names = std::unordered_set<std::string>;

Names reads_of(const ParsedBody& body);

Names reads_of(const ParsedNode& node) {
  Names names(node.inputs.begin(), node.inputs.end());
  for (const ParsedBody& body : node.bodies) names.merge(reads_of(body));
  return names;
}

// From around it.
Names reads_of(const ParsedBody& body) {
  Names names(body.outputs.begin(), body.outputs.end());
  for (const ParsedNode& node : body.nodes) names.merge(reads_of(node));
  for (const ParsedInput& i : body.inputs) names.erase(i.name);
  for (const ParsedConstant& c : body.constants) names.erase(c.name);
  for (const ParsedNode& node : body.nodes)
    for (const std::string& name : node.outputs) names.erase(name);
  return names;
}

// What each node of the view waits for: indices of nodes there, each once.
std::vector<std::vector<size_t>> dependencies_of(const View& view) {
  std::vector<std::vector<size_t>> all(view.nodes.size());
  for (size_t n = 0; n < view.nodes.size(); ++n) {
    const ParsedNode& node = view.nodes[n];
    for (const std::string& name : node.inputs)
      if (!name.empty() && !view.knows(name)) bad(fmt::format("{} reads '{}', which nothing produces; export the model again", describe(node), shown(name)));
    for (const std::string& name : reads_of(node))
      if (const auto p = view.producers.find(name); p != view.producers.end() && p->second != kGiven) all[n].push_back(static_cast<size_t>(p->second));
  }
  return all;
}

std::vector<bool> needed_nodes(const View& view, const std::vector<std::vector<size_t>>& dependencies) {
  std::vector<bool> needed(view.nodes.size(), false);
  std::vector<size_t> open;
  const auto visit = [&](size_t node) {
    if (needed[node]) return;
    needed[node] = true;
    open.push_back(node);
  };
  for (const std::string& name : view.outputs)
    if (const auto p = view.producers.find(name); p != view.producers.end() && p->second != kGiven) visit(static_cast<size_t>(p->second));
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    for (const size_t before : dependencies[node]) visit(before);
  }
  return needed;
}

// Kahn's algorithm; the smallest index first, so that a sorted file stays as it is.
std::vector<ParsedNode> in_order(const View& view, const std::vector<std::vector<size_t>>& dependencies, const std::vector<bool>& wanted) {
  const size_t count = view.nodes.size();
  std::vector<size_t> missing(count);  // dependencies that are not placed yet
  std::vector<std::vector<size_t>> readers(count);
  for (size_t n = 0; n < count; ++n) {
    missing[n] = dependencies[n].size();
    for (const size_t before : dependencies[n]) readers[before].push_back(n);
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < count; ++n)
    if (missing[n] == 0) ready.push(n);
  std::vector<ParsedNode> sorted;
  sorted.reserve(count);
  size_t placed = 0;
  while (!ready.empty()) {
    const size_t n = ready.top();
    ready.pop();
    ++placed;
    if (wanted[n]) sorted.push_back(std::move(view.nodes[n]));
    for (const size_t reader : readers[n])
      if (--missing[reader] == 0) ready.push(reader);
  }
  if (placed < count)
    for (size_t n = 0; n < count; ++n)
      if (missing[n] > 0) bad(fmt::format("{} is part of a cycle; export the model again", describe(view.nodes[n])));
  return sorted;
}

void sort(View view, bool only_needed) {
  view.producers = producers_of(view);
  for (const std::string& name : view.outputs)
    if (!view.knows(name)) bad(fmt::format("nothing produces the {} output '{}'; export it again", view.around ? "branch's" : "model's", shown(name)));
  const auto dependencies = dependencies_of(view);
  for (ParsedNode& node : view.nodes)
    for (ParsedBody& body : node.bodies) sort({body.inputs, body.constants, body.nodes, body.outputs, &view}, only_needed);
  view.nodes = in_order(view, dependencies, only_needed ? needed_nodes(view, dependencies) : std::vector<bool>(view.nodes.size(), true));
}

}  // namespace

void sort_nodes(ParsedModel& model, bool only_needed) { sort({model.inputs, model.constants, model.nodes, model.outputs}, only_needed); }

}  // namespace amdahl
