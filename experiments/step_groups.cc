#include "experiments/step_groups.h"

#include <algorithm>

#include "graph/shape_words.h"
#include "plan/plan.h"

namespace amdahl {
namespace {

// Of the operands; of what is written, where nothing is read.
std::string shapes_of(const Problem& problem) {
  std::string text;
  for (const Access& a : problem.in.empty() ? problem.out : problem.in) {
    if (text.size() > 60) break;
    text += (text.empty() ? "" : " x ") + in_words(a.shape);
  }
  return text;
}

std::vector<StepGroup> groups_of(const Plan& plan, const ProfileRecord& profile) {
  std::vector<StepGroup> groups;
  std::map<std::string, size_t> group_of;
  for (size_t i = 0; i < plan.steps.size() && i < profile.step_seconds.size() && i < profile.floor_seconds.size(); ++i) {
    const Problem& problem = plan.steps[i].variant.problem;
    const auto [it, fresh] = group_of.emplace(problem.canonical(), groups.size());
    if (fresh) groups.push_back({problem.kind, shapes_of(problem), 0, 0, 0, problem});
    StepGroup& group = groups[it->second];
    ++group.count;
    group.seconds += profile.step_seconds[i];
    group.floor_seconds += profile.floor_seconds[i];
  }
  return groups;
}

}  // namespace

std::vector<StepGroup> step_groups(const SessionStore& store, const ProfileRecord& profile) {
  for (const PlanRecord& record : store.plans())
    if (record.id == profile.plan) return groups_of(record.plan.get<Plan>(), profile);
  return {};
}

std::vector<StepGroup> left_to_win(const SessionStore& store) {
  const std::vector<ProfileRecord> profiles = store.profiles();
  if (profiles.empty()) return {};
  std::vector<StepGroup> groups = step_groups(store, profiles.back());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const StepGroup& a, const StepGroup& b) { return a.seconds - a.floor_seconds > b.seconds - b.floor_seconds; });
  return groups;
}

std::map<std::string, int> declared_steps(const SessionStore& store) {
  std::map<std::string, int> counts;
  for (const StepGroup& group : left_to_win(store))
    if (const std::string name = declared_algorithm(group.problem); !name.empty()) counts[name] += group.count;
  return counts;
}

}  // namespace amdahl
