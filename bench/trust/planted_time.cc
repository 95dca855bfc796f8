#include "bench/trust/planted_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "bench/trust/source_edits.h"

namespace amdahl::trust {
namespace {

// Seconds of one turn of the chain that with_spin() plants: the fastest of many runs here. A chain of dependent instructions
// takes the same in every process, and the fastest run is one that nobody disturbed.
double turn_seconds() {
  constexpr int kTurns = 20'000;
  double fastest = 1;
  for (int run = 0; run < 300; ++run) {
    const auto start = std::chrono::steady_clock::now();
    unsigned long long z = 1;
    for (int turn = 0; turn < kTurns; ++turn) z = z * 6364136223846793005ull + 1442695040888963407ull;
    volatile unsigned long long result = z;
    (void)result;
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kTurns);
  }
  return fastest;
}

Json read_all(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Json::object();
  const Json all = Json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) throw Error(ExitCode::kIo, fmt::format("{} is damaged: delete it, and the planted effects are measured again", file));
  return all;
}

void write_all(const Json& all, const std::string& file) {
  std::ofstream out(file);
  out << all.dump(1) << std::endl;
  if (!out) throw Error(ExitCode::kIo, fmt::format("cannot write {}: give --folder a folder that can be written", file));
}

}  // namespace

bool is_on_processor(const WindowUnderTest& window) { return &window.target() == &cpu_backend().target(); }

std::vector<Step> with_planted(WindowUnderTest& window, int64_t iterations) {
  return window.with_source((is_on_processor(window) ? with_spin : with_spin_on_card)(window.source(), iterations));
}

PlantedEffects planted_effects(WindowUnderTest& window, const std::vector<double>& percents, int pairs, const std::string& file) {
  Json all = read_all(file);
  Json& mine = all[window.name()];
  const std::vector<Step> clean = with_planted(window, 0);
  PlantedEffects effects;
  for (double percent : percents) {
    const std::string key = fmt::format("{:g}", percent);
    if (!mine.contains(key)) {
      double clean_seconds = 0, planted_seconds = 0;
      if (!mine.contains("turn_seconds")) {
        constexpr int64_t kMany = 2000;
        const bool by_calls = !is_on_processor(window);
        window.enter(by_calls ? with_planted(window, kMany) : clean);
        window.measure(clean, 8, 1, &planted_seconds, &clean_seconds);
        mine["call_seconds"] = std::min(clean_seconds, planted_seconds);
        mine["turn_seconds"] = by_calls ? (planted_seconds - clean_seconds) / kMany : turn_seconds();
      }
      PlantedEffect effect;
      effect.iterations = std::llround(percent / 100 * mine["call_seconds"].get<double>() / mine["turn_seconds"].get<double>());
      window.enter(with_planted(window, effect.iterations));
      effect.truth = window.measure(clean, pairs, 2, &planted_seconds, &clean_seconds);
      mine[key] = {{"iterations", effect.iterations}, {"truth", effect.truth}};
      write_all(all, file);
      fmt::print(stderr, "{}: {:g}% planted is {:+.2f}% [{:+.2f}, {:+.2f}] in {} pairs\n", window.name(), percent, 100 * std::expm1(effect.truth.log),
                 100 * std::expm1(effect.truth.lo), 100 * std::expm1(effect.truth.hi), pairs);
      if (const double wanted = std::log1p(percent / 100); std::abs(effect.truth.log - wanted) > wanted / 2)
        fmt::print(stderr, "that is far from {:g}%: was the machine busy? Delete {} and planted.jsonl, and run again when it is quiet\n", percent, file);
    }
    effects[percent] = {mine[key].at("iterations").get<int64_t>(), mine[key].at("truth").get<Gain>()};
  }
  return effects;
}

}  // namespace amdahl::trust
