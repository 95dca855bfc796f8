#pragma once
// What kernels are made for: one device, and how its backend computes each kind. A kind (kernel_kind.h) says what is computed; an implementation
// says how a backend does it, as a text and the knobs that vary it. Everything above asks the target, and knows no backend.

#include <string>
#include <string_view>
#include <vector>

#include "base/device_info.h"
#include "starter_kernels/kinds/problem.h"
#include "starter_kernels/kinds/search_space.h"

namespace amdahl {

class KernelImplementation {
 public:
  virtual ~KernelImplementation() = default;
  virtual std::string_view kind() const = 0;
  virtual SearchSpace space(const Problem& problem, const DeviceInfo& device) const = 0;
  // The complete translation unit, with the interface that kernel_kind.h describes. Throws Error(kInternal) for a knob combination that `refuse`
  // refuses.
  virtual std::string source(const Variant& variant, const DeviceInfo& device) const = 0;
};

struct Target {
  std::string backend;  // "cpu"
  DeviceInfo device;
  std::vector<const KernelImplementation*> implementations;  // any order, at most one a kind
  std::string suffix = ".cpp";                               // of the name of a file that holds a text

  bool computes(std::string_view kind) const;
  std::string lacks(std::string_view kind) const;  // the refusal of a kind that it does not compute
  // Of a kind that the backend does not compute: without knobs, and refusing all.
  SearchSpace space(const Problem& problem) const;
  // What the knobs make, or the edited text that a variant brings. Throws Error(kInternal) for a kind that the backend does not compute.
  std::string source(const Variant& variant) const;

 private:
  const KernelImplementation* find(std::string_view kind) const;
};

}  // namespace amdahl
