#pragma once
// One backend, all its parts tied together: what kernels are made for, how they are built, the workers that they are tried in, and what its device can
// do at most. Each part is an interface of the folder that needs it; this is the only place that knows them all.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// The backends of this program, by the name that a session keeps (Target::backend); the first is used where nobody asks for another.
struct BackendRow {
  std::string_view name;
  // Of device `number`, which lives as long as the program. Throws Error(kNoDevice) that says what is missing.
  const Backend& (*of_device)(int number);
  // "an NVIDIA card" where one seems to be there, else "". A file is looked for: to ask the driver would start it, and its threads.
  std::string (*seen)() = nullptr;  // nullptr: it is always there, and nobody needs to be told
};
const std::vector<BackendRow>& backends();
const BackendRow* find_backend(std::string_view name);  // nullptr for a name that is not in the table
const Backend& cpu_backend();
std::string device_names();  // what backend_named() takes: "cpu, cuda or cuda:N"
// "cpu", "cuda", "cuda:1". Throws Error(kUsage, kNoDevice).
const Backend& backend_named(const std::string& text);

}  // namespace amdahl
