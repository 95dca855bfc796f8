#include "bench/ablation/timeline.h"

#include <algorithm>

namespace amdahl::ablation {

std::vector<Win> wins_of(const SessionStore& store, const std::map<int64_t, double>& proven_at) {
  std::map<int64_t, int64_t> plan_of;  // experiment -> its newest plan: a win that was taken up again has several
  for (const PlanRecord& p : store.plans()) plan_of[p.experiment] = p.id;
  std::vector<Win> wins;
  for (const Experiment& e : store.experiments()) {
    const auto at = proven_at.find(e.id);
    const auto plan = plan_of.find(e.id);
    if (e.outcome != Outcome::kKept || at == proven_at.end() || plan == plan_of.end()) continue;
    wins.push_back({at->second, model_gain(e.share, e.gain.log), plan->second});
  }
  std::sort(wins.begin(), wins.end(), [](const Win& a, const Win& b) { return a.at < b.at; });
  return wins;
}

double log_after(const std::vector<Win>& wins, double seconds) {
  double sum = 0;
  for (const Win& w : wins)
    if (w.at <= seconds) sum += w.log;
  return sum;
}

int64_t plan_after(const std::vector<Win>& wins, double seconds, int64_t otherwise) {
  int64_t plan = otherwise;
  for (const Win& w : wins)
    if (w.at <= seconds) plan = w.plan;
  return plan;
}

double seconds_to(const std::vector<Win>& wins, double share) {
  double all = 0, sum = 0;
  for (const Win& w : wins) all += w.log;
  for (const Win& w : wins)
    if ((sum += w.log) >= share * all) return w.at;
  return 0;
}

}  // namespace amdahl::ablation
