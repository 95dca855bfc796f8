#pragma once
// What this machine can do at most, measured: operations a second by vector width and thread count, bytes a second by
// memory level. The roofline of every step is drawn from these, so they are attainable figures, not data-sheet ones.
//
// Each figure is the upper decile of short repetitions: other tenants of a shared machine only ever lower a rate, and a
// single lucky repetition does not set it. `spread` says how far the median lies below.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace amdahl {

enum class MemoryLevel { kL1, kL2, kL3, kDram };
std::string_view name_of(MemoryLevel level);  // "L1", "L2", "L3", "DRAM"

// How the form of a rate of half floats begins, and that of bytes ends.
inline constexpr std::string_view kHalvesForm = "fp16", kBytesForm = "int8";

// What is multiplied: each has a peak of its own.
enum class Factors { kFloats, kHalves, kBytes };

struct ArithmeticCeiling {
  std::string form;  // "512-bit fp32"
  int threads = 1;
  bool fp32 = true;   // part of the fp32 peak
  double gflops = 0;  // 1e9 operations a second, a multiply-add counts two
  double spread = 0;  // 1 - median / gflops
};

struct BandwidthCeiling {
  MemoryLevel level = MemoryLevel::kL1;
  std::string pattern;  // "read, 1 stream", "read, 4 streams", "triad" (two reads and a write)
  int threads = 1;
  int64_t bytes = 0;  // touched by all threads together
  double gbs = 0;     // 1e9 bytes a second; a write counts once
  double spread = 0;
};

struct Ceilings {
  static constexpr int kFormat = 3;  // of the JSON

  std::vector<ArithmeticCeiling> arithmetic;
  std::vector<BandwidthCeiling> bandwidth;
  double noise = 0;                                   // robust sd of log(tA / tB), A and B the same code in alternating segments of ~1 ms
  double barrier_seconds = 0;                         // an empty parallel region on all cores: the least a threaded call costs
  double call_seconds = 0;                            // the least a call takes, whatever it computes: on a card a launch in a graph and a look at its memory
  double busy = 0;                                    // share of repetitions that other programs held up
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // sizes used to choose a level: a core, a core, shared
  std::string machine;                                // DeviceInfo::fingerprint()
  std::string processors;                             // CeilingProbe::state(): what they were measured on
  int64_t measured_at = 0;                            // Unix time
  double took_seconds = 0;

  // The figures deserve a second look: they are used for now, and measured again by the next command that asks for them.
  bool while_busy() const { return busy > 0.2; }
  // 1e9 operations a second at this thread count, between the measured counts by straight line. Of 16-bit floats never below that of fp32, of bytes never
  // below either.
  double peak_gflops(int threads, Factors factors = Factors::kFloats) const;
  // Whether half floats are multiplied as they are: on a card's tensor cores. A CPU makes floats of them first.
  bool multiplies_halves() const;
  // Best pattern, likewise.
  double bandwidth_gbs(MemoryLevel level, int threads) const;
  // Smallest level that holds `bytes` spread over `threads` cores (L3 and DRAM are shared).
  MemoryLevel level_of(double bytes, int threads) const;
};

// Of two measurements of one machine the higher figure in each row, since others only ever lower a rate; the rest is of the one that was less disturbed.
Ceilings best_of(const Ceilings& a, const Ceilings& b);

// "3 minutes", "2 days".
std::string age_text(int64_t since_unix);

void to_json(nlohmann::json& j, const Ceilings& c);
void from_json(const nlohmann::json& j, Ceilings& c);

}  // namespace amdahl
