#include "experiments/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"

namespace amdahl {
namespace {

std::vector<Step> replacement_of(const Experiment& e) { return e.replacement.get<std::vector<Step>>(); }

// By variant: the texts that this session proved, and that its gate confirmed.
std::set<std::string> proven_here(const SessionStore& session) {
  std::set<int64_t> confirmed;
  for (const LedgerEntry& entry : session.ledger())
    if (entry.kept) confirmed.insert(entry.experiments.begin(), entry.experiments.end());
  std::set<std::string> variants;
  for (const Experiment& e : session.experiments()) {
    if (e.outcome != Outcome::kKept || !confirmed.count(e.id) || e.prove_log_ratios.empty() || e.confirm_log_ratios.empty()) continue;
    for (const Step& s : replacement_of(e)) variants.insert(s.variant.id());
  }
  return variants;
}

}  // namespace

std::string home_of(const std::string& cache_dir) {
  const std::string path = cache_dir + "/home";
  const auto read = [&] {
    std::string home;
    std::ifstream(path) >> home;
    return home;
  };
  if (std::string home = read(); !home.empty()) return home;
  std::random_device entropy;
  try {
    write_atomically(path, fmt::format("{:08x}{:08x}{:08x}{:08x}\n", entropy(), entropy(), entropy(), entropy()));
  } catch (const Error&) {
  }
  return read();  // another process may have been first
}

bool holds_foreign_text(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) { return !s.variant.source_override.empty(); });
}

std::string origin_of(const std::vector<Experiment>& experiments, const std::vector<Step>& steps) {
  std::set<std::string> texts;
  for (const Step& s : steps)
    if (!s.variant.source_override.empty()) texts.insert(s.variant.source_override);
  if (texts.empty()) return "";
  for (const Experiment& e : experiments) {
    if (e.origin.empty()) continue;
    for (const Step& s : replacement_of(e))
      if (texts.count(s.variant.source_override)) return e.origin;
  }
  return "";
}

std::string unproven_text(const SessionStore& session, const Plan& plan) {
  if (!holds_foreign_text(plan.steps)) return "";
  const std::set<std::string> proven = proven_here(session);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    if (s.variant.source_override.empty() || proven.count(s.variant.id())) continue;
    const std::string origin = origin_of(session.experiments(), {s});
    return fmt::format("step {} of the plan ({}) has a text {} that this session has not proven: tune the model in a new session, which tries it again", i,
                       s.variant.problem.kind, origin.empty() ? "of others" : "from " + origin);
  }
  return "";
}

}  // namespace amdahl
