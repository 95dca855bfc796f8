#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "bench/ablation/arm.h"
#include "experiments/experiment.h"

namespace amdahl::ablation {
namespace {

std::string row(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string gain_cell(const Json& moment) {
  const Gain g = moment.at("gain").get<Gain>();
  return g.pairs == 0 ? "1" : fmt::format("{:.2f} [{:.2f}, {:.2f}]", std::exp(g.log), std::exp(g.lo), std::exp(g.hi));
}

}  // namespace

std::string table_of(const std::vector<Json>& results) {
  if (results.empty()) return "";
  const std::vector<std::string> phases{"build", "validate", "race", "prove", "gate", "profile", "other"};
  std::vector<std::string> head{"arm"};
  for (const Json& m : results[0].at("moments")) head.push_back(fmt::format("speed-up after {:g} min", m.at("minutes").get<double>()));
  for (const char* title : {"experiments an hour", "kept", "of", "90% of it after, s"}) head.emplace_back(title);
  for (const std::string& phase : phases) head.push_back(phase + ", %");
  std::string text = row(head) + row(std::vector<std::string>(head.size(), "---"));
  for (const Json& r : results) {
    const double seconds = r.at("seconds");
    std::vector<std::string> cells{r.at("arm")};
    for (const Json& m : r.at("moments")) cells.push_back(gain_cell(m));
    cells.push_back(fmt::format("{:.0f}", 3600 * r.at("experiments").get<double>() / seconds));
    cells.push_back(fmt::format("{}", r.at("kept").get<int>()));
    cells.push_back(fmt::format("{}", r.at("experiments").get<int>()));
    cells.push_back(r.at("kept").get<int>() == 0 ? "-" : fmt::format("{:.0f}", r.at("seconds_to_90").get<double>()));
    for (const std::string& phase : phases) cells.push_back(fmt::format("{:.0f}", 100 * r.at("phases").value(phase, 0.0) / seconds));
    text += row(cells);
  }
  return text;
}

}  // namespace amdahl::ablation
