#pragma once
// A kernel kind: what it computes, and what that costs at least. How a backend computes it is an implementation (target.h).
//
// A kind is one row of kernel_kinds() (kernel_kinds.cc) and a definition `<kind>.cc`; on a CPU it is `cpu/<kind>.cc` with a readable text,
// `cpu/kernels/<kind>.cpp`. An implementation's text is one translation unit with this C interface (all sizes are compile-time constants of it):
//
//   size_t amdahl_workspace_bytes(void);                        scratch of one call, 64-byte aligned
//   size_t amdahl_packed_bytes(int input);                      0: this input is used as it comes
//   void   amdahl_pack(int input, const void* raw, void* packed);  constants, once, at load
//   void   amdahl_run(const void* const* in, void* const* out, void* workspace);   re-entrant, keeps no state
//
// `in[i]` of an input with amdahl_packed_bytes(i) > 0 is the packed copy. Pointers are at least 4-byte aligned (element
// alignment), not more: a kernel must not assume 64. Pointers are the device's. Threads of a CPU are OpenMP's, `num_threads(THREADS)`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {

// Least work of a problem: operations, and bytes that must move if every operand is touched once.
struct Work {
  double flops = 0;
  double bytes = 0;
};

// A graph node as a kernel: which values it reads and writes, in the order of the problem's operands.
struct Lowering {
  Variant variant;               // of lower(): without knobs; of lower_node(): with the starter's
  std::vector<ValueId> inputs;   // in[i]
  std::vector<ValueId> outputs;  // out[i]
};

// What rewrites and measurements may ask of any kind.
struct Traits {
  enum class Family { kProducts, kRows, kElements };
  Family family = Family::kElements;  // what it spends its time on: products are summed, rows are folded, or each element stands alone
  bool is_product = false;            // all its arithmetic is products and their sums: what a machine's multiply-add ceiling bounds
  bool has_expression = false;        // it reads its input through a pointwise program, which others can be composed with
  bool has_epilogue = false;          // it applies an epilogue to its result
  bool reads_strides = false;         // its own operands may lie in any order, those of its expression apart
  bool writes_strides = false;        // so may its result
};

class KernelKind {
 public:
  virtual ~KernelKind() = default;
  virtual std::string_view name() const = 0;     // kind_names.h
  virtual std::string_view summary() const = 0;  // one line: what it computes
  virtual Traits traits() const = 0;
  virtual Work work(const Problem& problem) const = 0;
  // A node of the graph as a problem of this kind, knobs not yet set, or nullopt when this kind does not compute it.
  virtual std::optional<Lowering> lower(const Graph& graph, const Node& node, int threads) const = 0;
  // Small graphs of one or a few nodes that this kind computes (every form it claims: odd sizes, tails, broadcasts).
  // The conformance tests lower, compile and run each with every value of every knob and judge it by the oracle.
  virtual std::vector<Graph> examples() const = 0;
};

// In order: the first kind whose lower() accepts a node computes it.
const std::vector<const KernelKind*>& kernel_kinds();
const KernelKind& kernel_kind(std::string_view name);
Traits traits_of(const Problem& problem);

// The target's starter for a node; throws Refusal (graph/op.h) when no kind takes it, or none that the target computes.
Lowering lower_node(const Graph& graph, const Node& node, int threads, const Target& target);

}  // namespace amdahl
