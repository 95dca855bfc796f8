#include "tuner/trials/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "profiler/cpu_probe.h"
#include "starter_kernels/cpu/cpu_target.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"
#include "tuner/trials/cuda_backend.h"
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

const std::vector<BackendRow>& backends() {
  static const std::vector<BackendRow> all{
      {"cpu", [](int) -> const Backend& { return cpu_backend(); }},
      {"cuda", cuda_backend, seen_card},
  };
  return all;
}

const BackendRow* find_backend(std::string_view name) {
  for (const BackendRow& row : backends())
    if (row.name == name) return &row;
  return nullptr;
}

std::string device_names() {
  std::vector<std::string> names{std::string(backends().front().name)};
  for (size_t i = 1; i < backends().size(); ++i) names.insert(names.end(), {std::string(backends()[i].name), fmt::format("{}:N", backends()[i].name)});
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

const Backend& backend_named(const std::string& text) {
  const std::string name = text.substr(0, text.find(':')), number = name.size() < text.size() ? text.substr(name.size() + 1) : "0";
  const BackendRow* row = find_backend(name);
  const bool counts = !number.empty() && number.size() < 4 && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!row || !counts) throw Error(ExitCode::kUsage, fmt::format("unknown device '{}': give {}", text, device_names()));
  return row->of_device(std::stoi(number));
}

}  // namespace amdahl
