#include <fmt/format.h>

#include <map>

#include "base/statistics.h"
#include "bench/trust/markdown.h"
#include "bench/trust/tables.h"
#include "experiments/session.h"

namespace amdahl::trust {
namespace {

// Outcomes as a reader asks for them: a loser of the race costs another order than a failed proof.
std::string ending_of(const Experiment& e) {
  const bool raced = e.stage == "race" || e.stage == "build";
  switch (e.outcome) {
    case Outcome::kKept: return "5 kept";
    case Outcome::kReverted:
      if (e.stage == "build") return "1 twin of known object code";
      if (e.stage == "gate") return "6 rolled back by the whole model";
      return raced ? "2 screened out by the race" : "4 reverted after pairs";
    case Outcome::kInconclusive: return raced ? "3 looked faster, another form went to the proof" : "4 inconclusive after pairs";
    case Outcome::kBuildFailed: return "0 did not compile";
    default: return "0 failed validation (" + std::string(name_of(e.outcome)) + ")";
  }
}

}  // namespace

std::string costs_table(const std::vector<std::string>& sessions) {
  std::map<std::string, std::vector<PhaseSeconds>> by_ending;
  for (const std::string& path : sessions)
    for (const Experiment& e : Session::open(path, Session::Access::kRead)->experiments()) by_ending[ending_of(e)].push_back(e.seconds);
  MarkdownTable table({"ending", "experiments", "median seconds", "build", "validation", "race", "prove", "confirm"});
  for (const auto& [ending, all] : by_ending) {
    const auto middle = [&all = all](auto phase) {
      std::vector<double> seconds;
      for (const PhaseSeconds& s : all) seconds.push_back(phase(s));
      return fmt::format("{:.2f}", median(seconds));
    };
    table.add({ending.substr(2), fmt::format("{}", all.size()), middle([](const auto& s) { return s.total(); }), middle([](const auto& s) { return s.build; }),
               middle([](const auto& s) { return s.validate; }), middle([](const auto& s) { return s.race; }), middle([](const auto& s) { return s.prove; }),
               middle([](const auto& s) { return s.confirm; })});
  }
  return table.text();
}

}  // namespace amdahl::trust
