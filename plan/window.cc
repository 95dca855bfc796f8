// Windows: what they read and write, when two are equal, and how one is replaced.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/hash.h"
#include "plan/plan.h"

namespace amdahl {
namespace {

template <typename T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

std::set<Operand> graph_outputs(const Graph& graph, const std::vector<ValueId>& storage) {
  std::set<Operand> outputs;
  for (ValueId v : graph.outputs) outputs.insert({storage[static_cast<size_t>(v)], ""});
  return outputs;
}

// The renaming nodes between storage and the value that a node reads.
void add_renamings(const Graph& graph, const Uses& uses, const std::vector<ValueId>& storage, ValueId v, std::set<NodeId>& nodes) {
  while (v != kNoValue && storage[static_cast<size_t>(v)] != v) {
    const NodeId n = uses.producer[static_cast<size_t>(v)];
    nodes.insert(n);
    v = graph.node(n).inputs[0];
  }
}

// A window with local numbers in place of the graph's: equal windows have equal text, and values[i] (nodes[i]) of one
// corresponds to values[i] (nodes[i]) of the other.
struct Canonical {
  std::string text;
  std::vector<ValueId> values;
  std::vector<NodeId> nodes;
};

class Canonicalizer {
 public:
  Canonicalizer(const Graph& graph, const Plan& plan, const Window& window) : graph_(graph), plan_(plan), window_(window), io_(io_of(graph, plan, window)) {}

  Canonical run() {
    result_.nodes = io_.nodes;
    for (const Operand& o : io_.inputs) result_.text += fmt::format("in {} {}\n", local(o.value), o.format);
    for (NodeId n : io_.nodes) {
      const Node& node = graph_.node(n);
      result_.text += describe(node);
      for (ValueId v : node.inputs) result_.text += fmt::format(" {}", local(v));
      result_.text += " ->";
      for (ValueId v : node.outputs) result_.text += fmt::format(" {}", local(v));
      result_.text += '\n';
    }
    for (int s : window_.steps) {
      const Step& step = plan_.steps[static_cast<size_t>(s)];
      for (const Operand& o : step.inputs) result_.text += fmt::format(" {}{}", local(o.value), o.format);
      result_.text += " =>";
      for (const Operand& o : step.outputs) result_.text += fmt::format(" {}{}", local(o.value), o.format);
      result_.text += step.variant.problem.canonical() + '\n';
    }
    for (const Operand& o : io_.outputs) result_.text += fmt::format("out {} {}\n", local(o.value), o.format);
    return std::move(result_);
  }

 private:
  int local(ValueId v) {
    if (v == kNoValue) return -1;
    const auto [it, is_new] = numbers_.try_emplace(v, static_cast<int>(result_.values.size()));
    if (is_new) {
      result_.values.push_back(v);
      const Value& value = graph_.value(v);
      result_.text += fmt::format("[{} {}", name_of(value.dtype), to_string(value.shape));
      if (value.constant) result_.text += is_structural(value) ? " = " + hash_hex(value.constant->data(), value.constant->bytes()) : std::string(" weight");
      result_.text += "]";
    }
    return it->second;
  }

  const Graph& graph_;
  const Plan& plan_;
  const Window& window_;
  WindowIo io_;
  std::map<ValueId, int> numbers_;
  Canonical result_;
};

// Kahn's order, earliest `rank` first, so that steps keep their places where dependencies allow.
std::vector<Step> ordered(const Graph& graph, std::vector<Step> steps, const std::vector<double>& rank) {
  std::map<Operand, size_t> writer;
  for (size_t s = 0; s < steps.size(); ++s)
    for (const Operand& o : steps[s].outputs) writer[o] = s;
  std::vector<std::vector<size_t>> after(steps.size());
  std::vector<int> waiting(steps.size(), 0);
  for (size_t s = 0; s < steps.size(); ++s)
    for (const Operand& o : steps[s].inputs) {
      const auto it = writer.find(o);
      if (it == writer.end() || graph.is_constant(o.value)) continue;
      after[it->second].push_back(s);
      ++waiting[s];
    }
  std::set<std::pair<double, size_t>> ready;
  for (size_t s = 0; s < steps.size(); ++s)
    if (waiting[s] == 0) ready.insert({rank[s], s});
  std::vector<Step> out;
  while (!ready.empty()) {
    const size_t s = ready.begin()->second;
    ready.erase(ready.begin());
    for (size_t t : after[s])
      if (--waiting[t] == 0) ready.insert({rank[t], t});
    out.push_back(std::move(steps[s]));
  }
  if (out.size() != steps.size()) throw Error(ExitCode::kInternal, "a replacement makes the plan cyclic");
  return out;
}

void drop_dead_steps(const Graph& graph, std::vector<Step>& steps) {
  std::set<Operand> needed = graph_outputs(graph, storage_of(graph));
  std::vector<Step> kept;
  for (size_t s = steps.size(); s-- > 0;) {
    const bool live = std::any_of(steps[s].outputs.begin(), steps[s].outputs.end(), [&](const Operand& o) { return needed.count(o) > 0; });
    if (!live) continue;
    needed.insert(steps[s].inputs.begin(), steps[s].inputs.end());
    kept.push_back(std::move(steps[s]));
  }
  std::reverse(kept.begin(), kept.end());
  steps = std::move(kept);
}

}  // namespace

WindowIo io_of(const Graph& graph, const Plan& plan, const Window& window) {
  const std::vector<ValueId> storage = storage_of(graph);
  const Uses uses = uses_of(graph);
  const std::set<int> inside(window.steps.begin(), window.steps.end());
  std::set<Operand> read_outside = graph_outputs(graph, storage);
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (!inside.count(static_cast<int>(s))) read_outside.insert(plan.steps[s].inputs.begin(), plan.steps[s].inputs.end());

  WindowIo io;
  std::set<NodeId> nodes;
  std::set<Operand> written;
  for (int s : window.steps) {
    const Step& step = plan.steps[static_cast<size_t>(s)];
    for (const Operand& o : step.inputs) {
      if (graph.is_constant(o.value)) add_once(io.constants, o.value);
      else if (!written.count(o)) add_once(io.inputs, o);
    }
    for (const Operand& o : step.outputs) {
      written.insert(o);
      if (read_outside.count(o)) add_once(io.outputs, o);
    }
    for (NodeId n : step.nodes) {
      nodes.insert(n);
      for (ValueId v : graph.node(n).inputs) add_renamings(graph, uses, storage, v, nodes);
    }
  }
  io.nodes.assign(nodes.begin(), nodes.end());
  return io;
}

std::string signature(const Graph& graph, const Plan& plan, const Window& window) { return hash_hex(Canonicalizer(graph, plan, window).run().text); }

Plan replace(const Graph& graph, const Plan& plan, const Window& window, const std::vector<Step>& replacement) {
  const std::set<int> inside(window.steps.begin(), window.steps.end());
  std::vector<Step> steps;
  std::vector<double> rank;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (inside.count(static_cast<int>(s))) continue;
    steps.push_back(plan.steps[s]);
    rank.push_back(static_cast<double>(s));
  }
  // A replacement stands where its window ended: all that the window read is there by then.
  for (size_t r = 0; r < replacement.size(); ++r) {
    steps.push_back(replacement[r]);
    rank.push_back(window.steps.back() + static_cast<double>(r + 1) / static_cast<double>(replacement.size() + 1));
  }
  Plan out;
  out.threads = plan.threads;
  out.steps = ordered(graph, std::move(steps), rank);
  drop_dead_steps(graph, out.steps);
  return out;
}

namespace {

// Every value and node of `steps` renamed.
template <typename Value, typename NodeOf>
std::vector<Step> renamed(std::vector<Step> steps, Value value, NodeOf node) {
  for (Step& step : steps) {
    for (NodeId& n : step.nodes) n = node(n);
    for (Operand& o : step.inputs) o.value = value(o.value);
    for (Operand& o : step.outputs) o.value = value(o.value);
  }
  return steps;
}

constexpr const char* kForeign = "a replacement uses what its window does not contain";

template <typename T>
T number_in(const std::vector<T>& list, T item) {
  const auto it = std::find(list.begin(), list.end(), item);
  if (it == list.end()) throw Error(ExitCode::kInternal, kForeign);
  return static_cast<T>(it - list.begin());
}

template <typename T>
T item_of(const std::vector<T>& list, T number) {
  if (number < 0 || number >= static_cast<T>(list.size())) throw Error(ExitCode::kInternal, kForeign);
  return list[static_cast<size_t>(number)];
}

std::vector<Step> with_own_numbers(const Canonical& own, const std::vector<Step>& steps) {
  return renamed(
      steps, [&](ValueId v) { return number_in(own.values, v); }, [&](NodeId n) { return number_in(own.nodes, n); });
}

std::vector<Step> with_graph_numbers(const Canonical& own, const std::vector<Step>& local) {
  return renamed(
      local, [&](ValueId v) { return item_of(own.values, v); }, [&](NodeId n) { return item_of(own.nodes, n); });
}

}  // namespace

std::vector<Step> localized(const Graph& graph, const Plan& plan, const Window& window, const std::vector<Step>& replacement) {
  return with_own_numbers(Canonicalizer(graph, plan, window).run(), replacement);
}

std::vector<Step> placed(const Graph& graph, const Plan& plan, const Window& window, const std::vector<Step>& local) {
  return with_graph_numbers(Canonicalizer(graph, plan, window).run(), local);
}

std::vector<Step> transfer(const Graph& graph, const Plan& plan, const Window& from, const Window& to, const std::vector<Step>& replacement) {
  const Canonical a = Canonicalizer(graph, plan, from).run();
  const Canonical b = Canonicalizer(graph, plan, to).run();
  if (a.text != b.text) throw Error(ExitCode::kInternal, "transfer between windows of different signature");
  return with_graph_numbers(b, with_own_numbers(a, replacement));
}

}  // namespace amdahl
