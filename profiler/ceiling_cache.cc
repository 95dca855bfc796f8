#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "profiler/ceiling_probe.h"

namespace amdahl {
namespace {

bool holds_here(const Ceilings& c, const CeilingProbe& probe) { return c.machine == probe.device().fingerprint() && c.processors == probe.state(); }

std::optional<Ceilings> read_ceilings(const std::string& path, const CeilingProbe& probe) {
  try {
    std::ifstream in(path);
    const auto j = nlohmann::json::parse(in);
    if (j.at("format") == Ceilings::kFormat)
      if (Ceilings known = j.get<Ceilings>(); holds_here(known, probe)) return known;
  } catch (const std::exception&) {
    // Absent, cut short or of an older format: measured again.
  }
  return std::nullopt;
}

}  // namespace

Ceilings cached_ceilings(const CeilingProbe& probe, const std::string& cache_dir, bool fresh, const CeilingsProgress& progress) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(cache_dir) / fmt::format("ceilings-{}.json", hash_hex(probe.device().fingerprint() + probe.state()));
  const std::optional<Ceilings> known = fresh ? std::nullopt : read_ceilings(path, probe);
  if (known && !known->while_busy()) return *known;
  Ceilings c = probe.measure(progress);
  if (known) c = best_of(c, *known);
  std::error_code ignored;
  fs::create_directories(cache_dir, ignored);
  try {
    write_atomically(path.string(), nlohmann::json(c).dump(1) + '\n');
  } catch (const Error&) {
    // A cache that cannot be written costs the next session a measurement.
  }
  return c;
}

}  // namespace amdahl
