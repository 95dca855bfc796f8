#include "tuner/worker/worker_backends.h"

#include "base/own_program.h"
#include "tuner/worker/cpu_worker_device.h"
#include "tuner/worker/host_arena.h"
#include "tuner/worker/sandbox.h"

namespace amdahl {
namespace {

class CpuWorkerBackend : public WorkerBackend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string worker_program() const override { return own_program("amdahl-worker", "AMDAHL_WORKER"); }
  std::unique_ptr<Arena> make_arena(const char* name) const override { return std::make_unique<HostArena>(name); }
  std::unique_ptr<WorkerDevice> make_device() const override { return std::make_unique<CpuWorkerDevice>(); }
  std::unique_ptr<Confinement> make_confinement() const override { return std::make_unique<Sandbox>(); }
};

}  // namespace

const WorkerBackend& cpu_worker_backend() {
  static const CpuWorkerBackend backend;
  return backend;
}

const std::vector<const WorkerBackend*>& worker_backends() {
  static const std::vector<const WorkerBackend*> all{&cpu_worker_backend()};
  return all;
}

}  // namespace amdahl
