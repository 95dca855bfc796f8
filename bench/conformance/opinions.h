#pragma once
// Where an answer of ours is not what another implementation states, and where a kernel's is not what the oracle states.

#include <map>
#include <string>
#include <vector>

#include "bench/conformance/stated_case.h"
#include "graph/op.h"

namespace amdahl::conformance {

// The case as a graph, with the data of its inputs in their order.
struct LoadedCase {
  Graph graph;
  std::vector<Tensor> inputs;
};
// `clean`: as `tune` and `run` see it. Throws Error as load_onnx_bytes does.
LoadedCase load(const StatedCase& c, bool clean);

// The outputs by the oracle, with bounds. `inputs`: in the graph's order.
std::vector<RefTensor> interpret(const Graph& graph, const std::vector<RefTensor>& inputs);
std::vector<RefTensor> interpret(const LoadedCase& loaded);

// "" or the element that differs most. Beyond the bound of `ours` (how far an honest fp32 computation may be off), `stated` may be as far off
// as its own element type rounds. What was computed in float64 all along has no fp32 error: it is held to a 2^16th of the bound, but of
// doubles to the bound itself, which is then of float64 arithmetic.
// Others compute operators of doubles in floats here and there (Attention in both, BatchNormalization with float statistics in onnx.reference): as typed, their
// doubles are held to a few units of fp32; what doubles should be is the float64 opinion's to say.
enum class Computed { kAsTyped, kAsTypedByOthers, kInFloat64 };
std::string difference(const RefTensor& ours, const Tensor& stated, Computed computed);

// "" or what the oracle says otherwise of the model cleaned up than of the model as it is. Two ways to the same numbers: each may be
// off by its bound.
std::string change_by_cleaning(const StatedCase& c);

// By reference; those that agree have "".
std::map<std::string, std::string> differences(const StatedCase& c, const std::vector<RefTensor>& ours);

}  // namespace amdahl::conformance
