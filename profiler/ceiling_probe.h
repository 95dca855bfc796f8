#pragma once
// Who measures ceilings: one class a backend.

#include <functional>
#include <string>

#include "base/device_info.h"
#include "profiler/ceilings.h"

namespace amdahl {

using CeilingsProgress = std::function<void(double fraction, const std::string& what)>;

class CeilingProbe {
 public:
  virtual ~CeilingProbe() = default;
  virtual const DeviceInfo& device() const = 0;
  // What else figures hold for: the processors that this process may use. Those of fewer of them, or of a part of their time, are others.
  virtual std::string state() const = 0;
  virtual Ceilings measure(const CeilingsProgress& progress = {}) const = 0;
  // Share of peak_gflops(threads) that this moment gives, at most 1: a neighbour on the same core lowers it, a program that has its turn on the
  // processor does not. Takes about 4 ms.
  virtual double share_of_peak(const Ceilings& ceilings, int threads) const = 0;
};

// From `cache_dir`/ceilings-<hash>.json when there is one of this device and state, else measured and written there. One that was measured while
// the machine was busy is measured again, and the better figures of both are kept. A cache that
// cannot be read is measured again; one that cannot be written is not an error. `fresh` measures in any case.
Ceilings cached_ceilings(const CeilingProbe& probe, const std::string& cache_dir, bool fresh = false, const CeilingsProgress& progress = {});

}  // namespace amdahl
