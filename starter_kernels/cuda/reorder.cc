// How an NVIDIA card computes the reorder kind (starter_kernels/kinds/reorder.cc): as a movement, of elements of any type.

#include <string>
#include <utility>

#include "starter_kernels/cuda/channels_last.h"
#include "starter_kernels/cuda/cuda_kernels.h"
#include "starter_kernels/kinds/formats.h"
#include "starter_kernels/kinds/kind_names.h"
#include "starter_kernels/kinds/movement.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"
#include "starter_kernels/kinds/target.h"

namespace amdahl {
namespace {

// The result's dimensions in the order in which they lie, so that it is written along memory.
Problem as_movement(const Problem& reorder) {
  Access in = as_channels_last(reorder.in[0], format_of_input(reorder, 0)), out = as_channels_last(reorder.out[0], format_of_output(reorder, 0));
  if (format_of_output(reorder, 0) != kChannelsLast)
    for (Access* a : {&in, &out}) {
      std::swap(a->shape[1], a->shape[2]);
      std::swap(a->strides[1], a->strides[2]);
    }
  return {std::string(kind::kMovement), {in}, {out}};
}

class ReorderOnCuda final : public KernelImplementation {
 public:
  std::string_view kind() const override { return kind::kReorder; }

  SearchSpace space(const Problem& problem, const DeviceInfo& card) const override {
    if (const std::string why = refused_formats(problem, 0); !why.empty()) return {{}, [=](const Knobs&) { return why; }};
    return movement_on_cuda()->space(as_movement(problem), card);
  }

  std::string source(const Variant& variant, const DeviceInfo& card) const override {
    Variant movement = variant;
    movement.problem = as_movement(variant.problem);
    return movement_on_cuda()->source(movement, card);
  }
};

}  // namespace

const KernelImplementation* reorder_on_cuda() {
  static const ReorderOnCuda implementation;
  return &implementation;
}

}  // namespace amdahl
