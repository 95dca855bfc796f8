#include "bench/conformance/opinions.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "graph/onnx/onnx_load.h"
#include "graph/oracle.h"

namespace amdahl::conformance {
namespace {

// Half a unit in the last place, relative; and the smallest number above zero.
struct Rounding {
  double relative, absolute;
};

Rounding rounding_of(DType dtype) {
  switch (dtype) {
    case DType::kF16: return {0x1p-11, 0x1p-24};
    case DType::kBF16: return {0x1p-8, 0x1p-133};
    case DType::kF32: return {0x1p-24, 0x1p-149};
    default: return {0x1p-53, std::numeric_limits<double>::denorm_min()};
  }
}

// As the element type holds it: beyond its largest number there is infinity.
double held(double x, DType dtype) { return to_doubles(from_doubles(dtype, {1}, {x}))[0]; }

struct Tolerance {
  DType dtype;
  Rounding rounding;
  double of_bound;
};

// How many times the room there is; 0 where the numbers agree.
double excess(double ours, double bound, double stated, const Tolerance& t) {
  constexpr double kBeyond = std::numeric_limits<double>::infinity();
  if (ours == stated || std::isinf(bound)) return 0;
  if (std::isnan(ours) || std::isnan(stated)) return std::isnan(ours) && std::isnan(stated) ? 0 : kBeyond;
  // An overflow is as good as the number that overflows.
  if (std::isinf(stated) || std::isinf(ours)) {
    const double furthest = ours + std::copysign(bound, stated);
    return held(ours, t.dtype) == held(stated, t.dtype) || held(furthest, t.dtype) == held(stated, t.dtype) ? 0 : kBeyond;
  }
  const double room = bound * t.of_bound + 2 * t.rounding.relative * std::fabs(stated) + t.rounding.absolute;
  const double times = std::fabs(ours - stated) / room;
  return times <= 1 ? 0 : times;
}

std::string worst_float(const RefTensor& ours, const std::vector<double>& stated, const Tolerance& tolerance) {
  double most = 0;
  size_t worst = 0;
  for (size_t i = 0; i < stated.size(); ++i)
    if (const double e = excess(ours.value[i], ours.bound_at(static_cast<int64_t>(i)), stated[i], tolerance); e > most) {
      most = e;
      worst = i;
    }
  if (most == 0) return "";
  return fmt::format("element {} is {} +- {:.2g}, not {}", worst, ours.value[worst], ours.bound_at(static_cast<int64_t>(worst)), stated[worst]);
}

std::string first_integer(const RefTensor& ours, const std::vector<int64_t>& stated) {
  for (size_t i = 0; i < stated.size(); ++i)
    if (const double bound = ours.bound_at(static_cast<int64_t>(i));
        ours.ints[i] != stated[i] && !(std::fabs(static_cast<double>(ours.ints[i]) - static_cast<double>(stated[i])) <= bound))
      return fmt::format("element {} is {}, not {}", i, ours.ints[i], stated[i]);
  return "";
}

}  // namespace

LoadedCase load(const StatedCase& c, bool clean) {
  LoadOptions options;
  options.clean = clean;
  LoadedCase loaded{load_onnx_bytes(c.model.SerializeAsString(), "", options), {}};
  for (ValueId v : loaded.graph.inputs) loaded.inputs.push_back(c.inputs.at(loaded.graph.value(v).name));
  return loaded;
}

std::vector<RefTensor> interpret(const Graph& graph, const std::vector<RefTensor>& inputs) {
  std::vector<NodeId> nodes(graph.nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) nodes[n] = static_cast<NodeId>(n);
  RefValues given;
  for (size_t i = 0; i < graph.inputs.size(); ++i) given[graph.inputs[i]] = inputs[i];
  const RefValues values = evaluate(graph, nodes, given, graph.outputs, true);
  std::vector<RefTensor> outputs;
  for (ValueId v : graph.outputs) outputs.push_back(values.at(v));
  return outputs;
}

std::vector<RefTensor> interpret(const LoadedCase& loaded) {
  std::vector<RefTensor> inputs;
  for (const Tensor& t : loaded.inputs) inputs.push_back(RefTensor::of(t));
  return interpret(loaded.graph, inputs);
}

std::string difference(const RefTensor& ours, const Tensor& stated, Computed computed) {
  const bool in_float64 = computed == Computed::kInFloat64;
  const bool same_type = ours.dtype == stated.dtype() || (ours.is_float() && stated.dtype() == DType::kF64);
  if (!same_type || ours.shape != stated.shape())
    return fmt::format("is {} {}, not {} {}", name_of(ours.dtype), to_string(ours.shape), name_of(stated.dtype()), to_string(stated.shape()));
  if (!ours.is_float()) return first_integer(ours, to_ints(stated));
  // Float64 arithmetic leaves a few units in its last place, functions of its library more.
  const bool in_floats = computed == Computed::kAsTypedByOthers && ours.dtype == DType::kF64;
  const Tolerance tolerance = in_floats    ? Tolerance{ours.dtype, {0x1p-20, 0x1p-149}, 1}
                              : in_float64 ? Tolerance{ours.dtype, {0x1p-42, 0x1p-149}, ours.dtype == DType::kF64 ? 1 : 0x1p-16}
                                           : Tolerance{ours.dtype, rounding_of(ours.dtype), 1};
  return worst_float(ours, to_doubles(stated), tolerance);
}

std::string change_by_cleaning(const StatedCase& c) {
  std::vector<RefTensor> expected = interpret(load(c, false));
  const std::vector<RefTensor> got = interpret(load(c, true));
  for (size_t o = 0; o < expected.size(); ++o) {
    for (size_t i = 0; i < expected[o].bound.size(); ++i) expected[o].bound[i] += got[o].bound_at(static_cast<int64_t>(i));
    if (const std::string d = difference(expected[o], got[o].to_tensor(), Computed::kAsTyped); !d.empty()) return fmt::format("output {}: {}", o, d);
  }
  return "";
}

std::map<std::string, std::string> differences(const StatedCase& c, const std::vector<RefTensor>& ours) {
  std::map<std::string, std::string> found;
  for (const auto& [reference, outputs] : c.stated) {
    std::string& text = found[reference];
    const Computed computed = reference.ends_with("float64") ? Computed::kInFloat64 : Computed::kAsTypedByOthers;
    for (const auto& [number, tensor] : outputs)
      if (text.empty() && number < ours.size())
        if (const std::string d = difference(ours[number], tensor, computed); !d.empty()) text = fmt::format("output {}: {}", number, d);
  }
  return found;
}

}  // namespace amdahl::conformance
