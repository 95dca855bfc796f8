#include "tuner/trials/cuda_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "base/counted.h"
#include "base/cuda/cards.h"
#include "base/error.h"
#include "profiler/cuda_probe.h"
#include "starter_kernels/cuda/cuda_target.h"
#include "starter_kernels/toolchain/cuda_toolchain.h"
#include "tuner/worker/worker_backends.h"

namespace amdahl {
namespace {

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(const DeviceInfo& card) : target_(cuda_target(card)), workers_(make_cuda_worker_backend(card.number)), probe_(make_cuda_probe(card)) {}
  const Target& target() const override { return target_; }
  std::shared_ptr<const Toolchain> make_toolchain(const std::string& cache_dir) const override {
    return std::make_shared<const CudaToolchain>(cache_dir, target_);
  }
  const WorkerBackend& workers() const override { return *workers_; }
  const CeilingProbe& probe() const override { return *probe_; }

 private:
  Target target_;
  std::unique_ptr<WorkerBackend> workers_;
  std::unique_ptr<CeilingProbe> probe_;
};

}  // namespace

const Backend& cuda_backend(int number) {
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<CudaBackend>> made;
  const std::lock_guard lock(mutex);
  std::unique_ptr<CudaBackend>& backend = made[number];
  if (!backend) {
    const std::vector<DeviceInfo> cards = cuda::cards();
    const auto card = std::find_if(cards.begin(), cards.end(), [&](const DeviceInfo& c) { return c.number == number; });
    if (card == cards.end())
      throw Error(ExitCode::kNoDevice, fmt::format("there is no card {}: this machine has {}, counted from 0", number, counted(cards.size(), "card")));
    backend = std::make_unique<CudaBackend>(*card);
  }
  return *backend;
}

std::string seen_card() { return std::filesystem::exists("/dev/nvidia0") ? "an NVIDIA card" : ""; }

}  // namespace amdahl
