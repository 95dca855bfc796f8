#include "tuner/trials/backend.h"

#include "profiler/cpu_probe.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/worker/worker_backends.h"

namespace amdahl {
namespace {

class CpuBackend : public Backend {
 public:
  const Target& target() const override { return cpu_target(); }
  std::shared_ptr<const Toolchain> make_toolchain(const std::string& cache_dir) const override { return std::make_shared<const CpuToolchain>(cache_dir); }
  const WorkerBackend& workers() const override { return cpu_worker_backend(); }
  const CeilingProbe& probe() const override { return cpu_probe(); }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

const std::vector<const Backend*>& backends() {
  static const std::vector<const Backend*> all{&cpu_backend()};
  return all;
}

const Backend* find_backend(std::string_view name) {
  for (const Backend* b : backends())
    if (b->target().backend == name) return b;
  return nullptr;
}

}  // namespace amdahl
