#include <fmt/format.h>

#include <functional>
#include <queue>
#include <unordered_map>

#include "base/error.h"
#include "base/printable.h"
#include "graph/onnx/parsed_model.h"

namespace amdahl {
namespace {

constexpr int kGiven = -1;  // an input or a constant

[[noreturn]] void bad(const std::string& message) { throw Error(ExitCode::kBadModel, message); }

std::string describe(const ParsedNode& node) { return fmt::format("node '{}' ({})", shown(node.name), shown(node.op)); }

using Producers = std::unordered_map<std::string, int>;  // value name -> node index or kGiven

Producers producers_of(const ParsedModel& model) {
  Producers producers;
  const auto add = [&](const std::string& name, int node) {
    if (name.empty() && node == kGiven) bad("an input or initializer has no name");
    if (!name.empty() && !producers.emplace(name, node).second)
      bad(fmt::format("the name '{}' is given to two values; the file is damaged, export it again", shown(name)));
  };
  for (const ParsedInput& i : model.inputs) add(i.name, kGiven);
  for (const ParsedConstant& c : model.constants) add(c.name, kGiven);
  for (size_t n = 0; n < model.nodes.size(); ++n)
    for (const std::string& name : model.nodes[n].outputs) add(name, static_cast<int>(n));
  return producers;
}

std::vector<bool> needed_nodes(const ParsedModel& model, const Producers& producers) {
  std::vector<bool> needed(model.nodes.size(), false);
  std::vector<int> open;
  const auto visit = [&](const std::string& name) {
    const auto p = producers.find(name);
    if (p == producers.end() || p->second == kGiven || needed[static_cast<size_t>(p->second)]) return;
    needed[static_cast<size_t>(p->second)] = true;
    open.push_back(p->second);
  };
  for (const std::string& name : model.outputs) visit(name);
  while (!open.empty()) {
    const ParsedNode& node = model.nodes[static_cast<size_t>(open.back())];
    open.pop_back();
    for (const std::string& name : node.inputs) visit(name);
  }
  return needed;
}

}  // namespace

void sort_nodes(ParsedModel& model, bool only_needed) {
  const Producers producers = producers_of(model);
  for (const std::string& name : model.outputs)
    if (!producers.count(name)) bad(fmt::format("nothing produces the model's output '{}'; export it again", shown(name)));

  const size_t count = model.nodes.size();
  const std::vector<bool> wanted = only_needed ? needed_nodes(model, producers) : std::vector<bool>(count, true);
  std::vector<int> missing(count, 0);  // inputs whose producer is not placed yet
  std::vector<std::vector<int>> readers(count);
  for (size_t n = 0; n < count; ++n) {
    for (const std::string& name : model.nodes[n].inputs) {
      if (name.empty()) continue;
      const auto p = producers.find(name);
      if (p == producers.end()) bad(fmt::format("{} reads '{}', which nothing produces; export the model again", describe(model.nodes[n]), shown(name)));
      if (p->second == kGiven) continue;
      ++missing[n];
      readers[static_cast<size_t>(p->second)].push_back(static_cast<int>(n));
    }
  }
  // Kahn's algorithm; the smallest index first, so that a sorted file stays as it is.
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t n = 0; n < count; ++n)
    if (missing[n] == 0) ready.push(static_cast<int>(n));
  std::vector<ParsedNode> sorted;
  sorted.reserve(count);
  size_t placed = 0;
  while (!ready.empty()) {
    const auto n = static_cast<size_t>(ready.top());
    ready.pop();
    ++placed;
    if (wanted[n]) sorted.push_back(std::move(model.nodes[n]));
    for (int reader : readers[n])
      if (--missing[static_cast<size_t>(reader)] == 0) ready.push(reader);
  }
  if (placed < count)
    for (size_t n = 0; n < count; ++n)
      if (missing[n] > 0) bad(fmt::format("{} is part of a cycle; export the model again", describe(model.nodes[n])));
  model.nodes = std::move(sorted);
}

}  // namespace amdahl
