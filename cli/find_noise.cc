#include "cli/find_noise.h"

#include "base/error.h"
#include "cli/open_session.h"
#include "cli/progress.h"

namespace amdahl {

std::optional<MachineNoise> find_machine_noise(const GlobalOptions& global, NoiseForm form) {
  const DeviceInfo& device = global.backend->target().device;
  const std::optional<MachineNoise> known = form == NoiseForm::kLong ? std::nullopt : cached_machine_noise(global.cache_dir, device, global.threads);
  if (form == NoiseForm::kCached || (known && !known->while_busy())) return known;
  const std::shared_ptr<const Toolchain> toolchain = global.backend->make_toolchain(global.cache_dir);
  if (!toolchain->has_layouts()) return std::nullopt;  // what is measured is how builds of one text differ
  NoiseOptions options;
  options.quick = form == NoiseForm::kCachedOrShort;
  options.threads = global.threads;
  Progress progress("measuring the noise of proofs", global.progress());
  try {
    TrialOptions bench = trial_options(global.threads, 1);
    bench.worker.backend = &global.backend->workers();
    const MachineNoise noise = measure_machine_noise(toolchain, options, bench, [&](double done, const std::string& what) { progress.update(done, 1, what); });
    cache_machine_noise(noise, global.cache_dir);
    return noise;
  } catch (const Stopped&) {
    throw Error(ExitCode::kInterrupted, "interrupted");
  }
}

}  // namespace amdahl
