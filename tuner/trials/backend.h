#pragma once
// One backend, all its parts tied together: what kernels are made for, how they are built, the workers that they are tried in, and what its device can
// do at most. Each part is an interface of the folder that needs it; this is the only place that knows them all.

#include <memory>
#include <string>

#include "profiler/ceiling_probe.h"
#include "starter_kernels/toolchain/toolchain.h"
#include "tuner/worker/worker_backend.h"

namespace amdahl {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Target& target() const = 0;
  // `cache_dir`: where it may keep what it builds. Throws Error(kNoCompiler, kIo).
  virtual std::shared_ptr<const Toolchain> make_toolchain(const std::string& cache_dir) const = 0;
  virtual const WorkerBackend& workers() const = 0;
  virtual const CeilingProbe& probe() const = 0;
};

// The processor's. Sessions do not name their backend yet: it is the only one of this program.
const Backend& cpu_backend();

}  // namespace amdahl
