#include "profiler/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "base/counted.h"

namespace amdahl {
namespace {

double between_counts(std::vector<std::pair<int, double>> points, int threads) {
  if (points.empty()) return 0;
  std::sort(points.begin(), points.end());
  if (threads <= points.front().first) return points.front().second;
  for (size_t i = 1; i < points.size(); ++i) {
    const auto [t0, r0] = points[i - 1];
    const auto [t1, r1] = points[i];
    if (threads <= t1) return r0 + (r1 - r0) * (threads - t0) / static_cast<double>(t1 - t0);
  }
  return points.back().second;
}

template <typename Row, typename Wanted, typename Value>
double best_at(const std::vector<Row>& rows, int threads, const Wanted& wanted, const Value& value) {
  std::map<int, double> best;
  for (const Row& row : rows)
    if (wanted(row)) best[row.threads] = std::max(best[row.threads], value(row));
  return between_counts({best.begin(), best.end()}, threads);
}

}  // namespace

std::string_view name_of(MemoryLevel level) {
  constexpr std::string_view names[] = {"L1", "L2", "L3", "DRAM"};
  return names[static_cast<int>(level)];
}

double Ceilings::peak_gflops(int threads, Factors factors) const {
  const auto counts = [&](const ArithmeticCeiling& a) {
    return a.fp32 || factors == Factors::kBytes || (factors == Factors::kHalves && !a.form.ends_with(kBytesForm));
  };
  return best_at(arithmetic, threads, counts, [](const ArithmeticCeiling& a) { return a.gflops; });
}

bool Ceilings::multiplies_halves() const {
  return std::any_of(arithmetic.begin(), arithmetic.end(), [](const ArithmeticCeiling& a) { return a.form.starts_with(kHalvesForm); });
}

double Ceilings::bandwidth_gbs(MemoryLevel level, int threads) const {
  return best_at(
      bandwidth, threads, [&](const BandwidthCeiling& b) { return b.level == level; }, [](const BandwidthCeiling& b) { return b.gbs; });
}

MemoryLevel Ceilings::level_of(double bytes, int threads) const {
  if (bytes <= static_cast<double>(l1d_bytes) * threads) return MemoryLevel::kL1;
  if (bytes <= static_cast<double>(l2_bytes) * threads) return MemoryLevel::kL2;
  if (bytes <= static_cast<double>(l3_bytes)) return MemoryLevel::kL3;
  return MemoryLevel::kDram;
}

Ceilings best_of(const Ceilings& a, const Ceilings& b) {
  Ceilings best = a.busy <= b.busy ? a : b;
  const Ceilings& other = a.busy <= b.busy ? b : a;
  for (ArithmeticCeiling& row : best.arithmetic)
    for (const ArithmeticCeiling& o : other.arithmetic)
      if (o.form == row.form && o.threads == row.threads && o.gflops > row.gflops) row = o;
  for (BandwidthCeiling& row : best.bandwidth)
    for (const BandwidthCeiling& o : other.bandwidth)
      if (o.level == row.level && o.pattern == row.pattern && o.threads == row.threads && o.gbs > row.gbs) row = o;
  return best;
}

std::string age_text(int64_t since_unix) {
  const int64_t s = std::max<int64_t>(0, static_cast<int64_t>(std::time(nullptr)) - since_unix);
  if (s < 120) return counted(s, "second");
  if (s < 2 * 3600) return counted(s / 60, "minute");
  if (s < 2 * 86400) return counted(s / 3600, "hour");
  return counted(s / 86400, "day");
}

void to_json(nlohmann::json& j, const Ceilings& c) {
  j = {{"format", Ceilings::kFormat},
       {"machine", c.machine},
       {"processors", c.processors},
       {"measured_at", c.measured_at},
       {"took_seconds", c.took_seconds},
       {"noise", c.noise},
       {"barrier_seconds", c.barrier_seconds},
       {"call_seconds", c.call_seconds},
       {"busy", c.busy},
       {"l1d_bytes", c.l1d_bytes},
       {"l2_bytes", c.l2_bytes},
       {"l3_bytes", c.l3_bytes},
       {"arithmetic", nlohmann::json::array()},
       {"bandwidth", nlohmann::json::array()}};
  for (const ArithmeticCeiling& a : c.arithmetic)
    j["arithmetic"].push_back({{"form", a.form}, {"threads", a.threads}, {"fp32", a.fp32}, {"gflops", a.gflops}, {"spread", a.spread}});
  for (const BandwidthCeiling& b : c.bandwidth)
    j["bandwidth"].push_back(
        {{"level", name_of(b.level)}, {"pattern", b.pattern}, {"threads", b.threads}, {"bytes", b.bytes}, {"gbs", b.gbs}, {"spread", b.spread}});
}

void from_json(const nlohmann::json& j, Ceilings& c) {
  c = {};
  c.machine = j.at("machine");
  c.processors = j.at("processors");
  c.measured_at = j.at("measured_at");
  c.took_seconds = j.at("took_seconds");
  c.noise = j.at("noise");
  c.barrier_seconds = j.at("barrier_seconds");
  c.call_seconds = j.value("call_seconds", 0.0);
  c.busy = j.at("busy");
  c.l1d_bytes = j.at("l1d_bytes");
  c.l2_bytes = j.at("l2_bytes");
  c.l3_bytes = j.at("l3_bytes");
  for (const auto& a : j.at("arithmetic")) c.arithmetic.push_back({a.at("form"), a.at("threads"), a.at("fp32"), a.at("gflops"), a.at("spread")});
  for (const auto& b : j.at("bandwidth")) {
    MemoryLevel level = MemoryLevel::kDram;
    for (MemoryLevel l : {MemoryLevel::kL1, MemoryLevel::kL2, MemoryLevel::kL3})
      if (b.at("level") == name_of(l)) level = l;
    c.bandwidth.push_back({level, b.at("pattern"), b.at("threads"), b.at("bytes"), b.at("gbs"), b.at("spread")});
  }
}

}  // namespace amdahl
