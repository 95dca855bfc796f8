#include "tuner/search/rebase.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"

namespace amdahl {
namespace {

bool same(const Step& a, const Step& b) { return a.outputs == b.outputs && a.inputs == b.inputs && a.nodes == b.nodes && a.variant.id() == b.variant.id(); }

std::optional<int> find(const Plan& plan, const Step& step) {
  const auto at = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) { return same(s, step); });
  if (at == plan.steps.end()) return std::nullopt;
  return static_cast<int>(at - plan.steps.begin());
}

// Steps of `plan` that `other` does not have.
std::vector<Step> missing_in(const Plan& other, const Plan& plan) {
  std::vector<Step> steps;
  for (const Step& s : plan.steps)
    if (!find(other, s)) steps.push_back(s);
  return steps;
}

// One place of a replacement: what went and what came instead. By the nodes it computes and the values that only its steps write.
struct Place {
  std::vector<Step> gone, came;
  std::set<NodeId> nodes;
  std::set<ValueId> values;

  bool touches(const Place& other) const {
    const auto meet = [](const auto& a, const auto& b) { return std::any_of(a.begin(), a.end(), [&](auto n) { return b.count(n) > 0; }); };
    return meet(nodes, other.nodes) || meet(values, other.values);
  }
  void join(const Place& other) {
    gone.insert(gone.end(), other.gone.begin(), other.gone.end());
    came.insert(came.end(), other.came.begin(), other.came.end());
    nodes.insert(other.nodes.begin(), other.nodes.end());
    values.insert(other.values.begin(), other.values.end());
  }
};

// Steps that share a node or write the same value are of one place, and those that read what others of them write.
std::vector<Place> places_of(const std::vector<Step>& gone, const std::vector<Step>& came) {
  std::set<ValueId> written;
  for (const auto* steps : {&gone, &came})
    for (const Step& s : *steps)
      for (const Operand& o : s.outputs) written.insert(o.value);
  std::vector<Place> places;
  const auto add = [&](const Step& s, bool is_gone) {
    Place place;
    (is_gone ? place.gone : place.came).push_back(s);
    place.nodes.insert(s.nodes.begin(), s.nodes.end());
    for (const Operand& o : s.outputs) place.values.insert(o.value);
    for (const Operand& o : s.inputs)
      if (written.count(o.value)) place.values.insert(o.value);
    for (size_t i = places.size(); i-- > 0;)
      if (places[i].touches(place)) {
        places[i].join(place);
        place = std::move(places[i]);
        places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
      }
    places.push_back(std::move(place));
  };
  for (const Step& s : gone) add(s, true);
  for (const Step& s : came) add(s, false);
  return places;
}

}  // namespace

std::optional<Window> relocate(const Plan& from, const Window& window, const Plan& to) {
  Window found;
  for (int s : window.steps) {
    const std::optional<int> at = find(to, from.steps[static_cast<size_t>(s)]);
    if (!at) return std::nullopt;
    found.steps.push_back(*at);
  }
  std::sort(found.steps.begin(), found.steps.end());
  return found;
}

std::optional<Plan> rebased(const Graph& graph, const Plan& before, const Plan& after, const Plan& onto) {
  Plan out = onto;
  bool changed = false;
  for (const Place& place : places_of(missing_in(after, before), missing_in(before, after))) {
    if (place.came.empty()) continue;  // nobody read it any more, nor will anybody here
    Window window;
    for (const Step& s : place.gone) {
      const std::optional<int> at = find(out, s);
      if (!at) return std::nullopt;
      window.steps.push_back(*at);
    }
    if (window.steps.empty()) return std::nullopt;
    std::sort(window.steps.begin(), window.steps.end());
    try {
      out = replace(graph, out, window, place.came);
    } catch (const Error&) {  // a cycle
      return std::nullopt;
    }
    if (!check(graph, out).empty()) return std::nullopt;
    changed = true;
  }
  if (!changed) return std::nullopt;
  return out;
}

}  // namespace amdahl
