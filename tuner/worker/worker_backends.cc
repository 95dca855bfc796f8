#include "tuner/worker/worker_backends.h"

#include <fmt/format.h>

#include "base/own_program.h"
#include "tuner/worker/cpu_worker_device.h"
#include "tuner/worker/cuda_confinement.h"
#include "tuner/worker/cuda_worker_device.h"
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

class CudaWorkerBackend : public WorkerBackend {
 public:
  explicit CudaWorkerBackend(int number) : number_(number) {}
  std::string_view name() const override { return "cuda"; }
  bool candidates_run_on_host() const override { return false; }  // a cubin is code of the card's; the driver looks itself up in /proc
  int placements_a_process() const override { return 3; }         // a proof takes at least nine pairs: three pairs of processes
  // One queue is all that a worker has, and its start is shorter so.
  std::vector<std::string> environment() const override { return {"CUDA_DEVICE_MAX_CONNECTIONS=1", fmt::format("{}={}", kCardVariable, number_)}; }
  std::string worker_program() const override { return own_program("amdahl-worker", "AMDAHL_WORKER"); }
  std::unique_ptr<Arena> make_arena(const char* name) const override { return std::make_unique<HostArena>(name); }
  std::unique_ptr<WorkerDevice> make_device() const override { return make_cuda_worker_device(); }
  std::unique_ptr<Confinement> make_confinement() const override { return std::make_unique<CudaConfinement>(); }

 private:
  int number_;
};

}  // namespace

const WorkerBackend& cpu_worker_backend() {
  static const CpuWorkerBackend backend;
  return backend;
}

std::unique_ptr<WorkerBackend> make_cuda_worker_backend(int number) { return std::make_unique<CudaWorkerBackend>(number); }

const std::vector<const WorkerBackend*>& worker_backends() {
  static const CudaWorkerBackend first_card(0);
  static const std::vector<const WorkerBackend*> all{&cpu_worker_backend(), &first_card};
  return all;
}

}  // namespace amdahl
