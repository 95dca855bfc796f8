#pragma once
// One backend's two sides, tied together by a name: what the supervisor needs to start and feed its workers, and what a worker is made of.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/worker/arena.h"
#include "tuner/worker/confinement.h"
#include "tuner/worker/worker_device.h"

namespace amdahl {

class WorkerBackend {
 public:
  virtual ~WorkerBackend() = default;
  virtual std::string_view name() const = 0;  // what the worker program is asked for: --backend NAME

  // In the supervisor.
  // Whether code of a candidate runs in the worker process itself. Where it does not, the process is this program's alone: it needs no PID namespace,
  // nothing that it does is a candidate's conduct, and what it says of its device's clock is true (WorkerDevice::has_clock()).
  virtual bool candidates_run_on_host() const { return true; }
  // How many pairs of a proof two processes are good for, each pair bound anew at other places (tuner/measurement/fresh_pairs.h).
  virtual int placements_a_process() const { return 1; }
  virtual std::vector<std::string> environment() const { return {}; }     // "NAME=value", of its workers
  virtual std::string worker_program() const = 0;                         // path; throws Error(kIo) when it is missing
  virtual std::unique_ptr<Arena> make_arena(const char* name) const = 0;  // `name` is for who looks at the machine; throws Error(kIo)

  // In the worker, before anything else. A device may ask the system for what it is refused later.
  virtual std::unique_ptr<WorkerDevice> make_device() const = 0;
  virtual std::unique_ptr<Confinement> make_confinement() const = 0;
};

}  // namespace amdahl
