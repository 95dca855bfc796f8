#include "tuner/search/carried_profile.h"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace amdahl {
namespace {

using Form = std::pair<std::vector<NodeId>, std::string>;  // what is computed, and how

Form form_of(const Step& step) { return {step.nodes, step.variant.id()}; }

std::set<Form> forms_of(const Plan& plan) {
  std::set<Form> forms;
  for (const Step& s : plan.steps) forms.insert(form_of(s));
  return forms;
}

}  // namespace

Profile carried_profile(const Plan& before, const Profile& profile, const Plan& after, double log_gain) {
  std::map<NodeId, size_t> step_of;
  for (size_t i = 0; i < before.steps.size(); ++i)
    for (NodeId n : before.steps[i].nodes) step_of[n] = i;
  const std::set<Form> old_forms = forms_of(before);

  Profile carried;
  carried.threads = after.threads;
  carried.memory_gbs = profile.memory_gbs;
  for (size_t i = 0; i < after.steps.size(); ++i) {
    const Step& step = after.steps[i];
    StepProfile row;
    row.step = static_cast<int>(i);
    row.kind = step.variant.problem.kind;
    row.nodes = step.nodes;
    for (NodeId n : step.nodes) {
      const auto from = step_of.find(n);
      if (from == step_of.end()) continue;
      const StepProfile& old = profile.steps[from->second];
      const double part = 1.0 / static_cast<double>(before.steps[from->second].nodes.size());
      row.seconds += part * old.seconds;
      row.floor.seconds += part * old.floor.seconds;
    }
    if (old_forms.count(form_of(step)) == 0) row.seconds *= std::exp(-log_gain);
    carried.seconds += row.seconds;
    carried.floor_seconds += row.floor.seconds;
    carried.steps.push_back(std::move(row));
  }
  return carried;
}

}  // namespace amdahl
