#include "cli/find_noise.h"

#include "base/error.h"
#include "cli/open_session.h"
#include "cli/progress.h"
#include "starter_kernels/toolchain/cpu_toolchain.h"

namespace amdahl {

std::optional<MachineNoise> find_machine_noise(const GlobalOptions& global, NoiseForm form) {
  const std::optional<MachineNoise> known = form == NoiseForm::kLong ? std::nullopt : cached_machine_noise(global.cache_dir, global.threads);
  if (form == NoiseForm::kCached || (known && !known->while_busy())) return known;
  NoiseOptions options;
  options.quick = form == NoiseForm::kCachedOrShort;
  options.threads = global.threads;
  Progress progress("measuring the noise of proofs", global.progress());
  try {
    const MachineNoise noise = measure_machine_noise(std::make_shared<const CpuToolchain>(global.cache_dir), options, bench_options(global.threads, 1),
                                                     [&](double done, const std::string& what) { progress.update(done, 1, what); });
    cache_machine_noise(noise, global.cache_dir);
    return noise;
  } catch (const Stopped&) {
    throw Error(ExitCode::kInterrupted, "interrupted");
  }
}

}  // namespace amdahl
