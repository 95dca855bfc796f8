#pragma once
// A kernel kind: what it computes, what it costs at least, how it can be varied, and its source text.
//
// A kind is one row of kernel_kinds() (kernel_kinds.cc), a definition `<kind>.cc`, and a readable source `cpu/<kind>.cpp`.
// The generated text is one translation unit with this C interface (all sizes are compile-time constants of the text):
//
//   size_t amdahl_workspace_bytes(void);                        scratch of one call, 64-byte aligned
//   size_t amdahl_packed_bytes(int input);                      0: this input is used as it comes
//   void   amdahl_pack(int input, const void* raw, void* packed);  constants, once, at load
//   void   amdahl_run(const void* const* in, void* const* out, void* workspace);   re-entrant, keeps no state
//
// `in[i]` of an input with amdahl_packed_bytes(i) > 0 is the packed copy. Pointers are at least 4-byte aligned (element
// alignment), not more: a kernel must not assume 64. Threads are OpenMP's, `num_threads(THREADS)`.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/machine.h"
#include "graph/graph.h"
#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// Least work of a problem: operations, and bytes that must move if every operand is touched once.
struct Work {
  double flops = 0;
  double bytes = 0;
};

struct Knob {
  std::string name;              // field's word, upper case as in the source: "MR", "KC", "PACK_B"
  std::vector<int64_t> values;   // ascending, what a search may try at this problem
  int64_t starter = 0;           // value of the starter kernel: a good engineer's first version, never worse on purpose
  std::string meaning;           // one line
};

struct SearchSpace {
  std::vector<Knob> knobs;
  // Empty when the combination can be built and fits the machine, else the reason.
  std::function<std::string(const Knobs&)> refuse;
  // What counting instructions says of a combination: cycles, comparable within the space only. It orders what is tried, and rules
  // nothing out. Empty: nothing is known.
  std::function<double(const Knobs&)> cycles;

  Knobs starters() const;
  const Knob* find(std::string_view name) const;
};

// A graph node as a kernel: which values it reads and writes, in the order of the problem's operands.
struct Lowering {
  Variant variant;                // starter knobs
  std::vector<ValueId> inputs;    // in[i]
  std::vector<ValueId> outputs;   // out[i]
};

class KernelKind {
 public:
  virtual ~KernelKind() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  // one line: what it computes
  virtual Work work(const Problem& problem) const = 0;
  virtual SearchSpace space(const Problem& problem, const MachineInfo& machine) const = 0;
  // The complete translation unit. Throws Error(kInternal) for a knob combination that `refuse` refuses.
  virtual std::string source(const Variant& variant) const = 0;
  // The starter for a node of the graph, or nullopt when this kind does not compute it.
  virtual std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const = 0;
  // Small graphs of one or a few nodes that this kind computes (every form it claims: odd sizes, tails, broadcasts).
  // The conformance tests lower, compile and run each with every value of every knob and judge it by the oracle.
  virtual std::vector<Graph> examples() const = 0;
};

// In order: the first kind whose lower() accepts a node computes it.
const std::vector<const KernelKind*>& kernel_kinds();
const KernelKind& kernel_kind(std::string_view name);

// The starter for a node; throws Refusal (graph/op.h) when no kind takes it.
Lowering lower_node(const Graph& graph, const Node& node, int threads);

}  // namespace amdahl
