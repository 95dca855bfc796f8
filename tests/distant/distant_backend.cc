#include "tests/distant/distant_backend.h"

#include "tests/distant/distant_device.h"
#include "tuner/worker/sandbox.h"

namespace amdahl::testing {
namespace {

// Address space says nothing of the memory of a process that has reserved as much of it.
class DistantConfinement : public Sandbox {
 public:
  void limit(int64_t) override { Sandbox::limit(0); }
};

class DistantBackend : public WorkerBackend {
 public:
  explicit DistantBackend(Forgets forgets) : forgets_(forgets) {}
  std::string_view name() const override { return "distant"; }
  std::string worker_program() const override { return AMDAHL_DISTANT_WORKER; }
  std::unique_ptr<Arena> make_arena(const char* name) const override { return std::make_unique<DistantArena>(name, forgets_); }
  std::unique_ptr<WorkerDevice> make_device() const override { return std::make_unique<DistantWorkerDevice>(); }
  std::unique_ptr<Confinement> make_confinement() const override { return std::make_unique<DistantConfinement>(); }

 private:
  Forgets forgets_;
};

}  // namespace

const WorkerBackend& distant_backend(Forgets forgets) {
  static const DistantBackend whole(Forgets::kNothing), unpublished(Forgets::kPublish), unfetched(Forgets::kFetch);
  switch (forgets) {
    case Forgets::kNothing: return whole;
    case Forgets::kPublish: return unpublished;
    case Forgets::kFetch: return unfetched;
  }
  return whole;
}

}  // namespace amdahl::testing
