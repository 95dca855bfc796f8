#pragma once
// A Plan is the model as an ordered list of Steps; a Step covers some nodes of the graph and names the Variant that
// computes them. A Window is a set of Steps; a rewrite replaces the Steps of one window by others that compute the same
// window outputs from the same window inputs.
//
// Operands are *storage* values: nodes that only rename memory (Reshape, Flatten, Squeeze, Unsqueeze, Identity) have no
// Step; a value they make is the same storage as the value they read (storage_of). Views beyond that (strides, offsets)
// are in the Access of the step's Problem.

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "starter_kernels/kinds/kernel_kind.h"

namespace amdahl {

// One tensor in memory. `format` "" is row-major; "nchw16c" is [N, ceil(C/16), H, W, 16] with zero padding channels, "nhwc" is
// [N, H, W, C].
// The same value may exist in two formats; those are two operands.
struct Operand {
  ValueId value = kNoValue;
  std::string format;
  auto operator<=>(const Operand&) const = default;
};

struct Step {
  std::vector<NodeId> nodes;     // ascending; covered nodes, renaming nodes left out. Cheap movement nodes may be covered
                                 // by several steps (each consumer absorbs its own transpose). A pure format
                                 // conversion covers none.
  std::vector<Operand> inputs;   // as the variant's problem.in
  std::vector<Operand> outputs;  // as problem.out
  Variant variant;
};

struct Plan {
  std::vector<Step> steps;  // in execution order
  int threads = 1;
};

struct Window {
  std::vector<int> steps;  // indices into Plan::steps, ascending
};

// What a window reads from outside (constants apart) and what is read of it outside (or is a graph output).
struct WindowIo {
  std::vector<NodeId> nodes;  // union of covered nodes, ascending, with the renaming nodes between them
  std::vector<Operand> inputs;
  std::vector<ValueId> constants;  // storage values with a constant, in order of first use
  std::vector<Operand> outputs;
};

// storage_of[v]: the value whose memory v shares (itself when it is not a renaming).
std::vector<ValueId> storage_of(const Graph& graph);
bool is_renaming(const Node& node);

// Every node its starter kernel on the target; what is quantized is joined (plan/quantized_steps.h). Throws Error(kUnsupported) with all reasons when a node has none.
Plan starter_plan(const Graph& graph, int threads, const Target& target);

// Every operand written before it is read, each written once, every graph output there. Returns "" or what is wrong.
std::string check(const Graph& graph, const Plan& plan);

WindowIo io_of(const Graph& graph, const Plan& plan, const Window& window);

// Equal for windows with the same operators, attributes, shapes, dtypes, formats and wiring. Weights are interchangeable;
// small or structured constants (masks, indices, scalars: see is_structural) are part of it by content.
std::string signature(const Graph& graph, const Plan& plan, const Window& window);
bool is_structural(const Value& constant);

// The plan with the window's steps replaced; dead steps (outputs that nobody reads) are dropped, order is repaired.
Plan replace(const Graph& graph, const Plan& plan, const Window& window, const std::vector<Step>& replacement);

// `replacement` was made for `from`; the same for the window `to` of equal signature (values and nodes renamed).
// Throws Error(kInternal) when the signatures differ.
std::vector<Step> transfer(const Graph& graph, const Plan& plan, const Window& from, const Window& to, const std::vector<Step>& replacement);

// `replacement` of a window with the window's own numbers for values and nodes: it fits every window of equal signature, in any
// graph; placed() puts it there. Both throw Error(kInternal) when it names what the window does not contain.
std::vector<Step> localized(const Graph& graph, const Plan& plan, const Window& window, const std::vector<Step>& replacement);
std::vector<Step> placed(const Graph& graph, const Plan& plan, const Window& window, const std::vector<Step>& local);

void to_json(Json& j, const Operand& o);
void from_json(const Json& j, Operand& o);
void to_json(Json& j, const Step& s);
void from_json(const Json& j, Step& s);
void to_json(Json& j, const Plan& p);
void from_json(const Json& j, Plan& p);

}  // namespace amdahl
