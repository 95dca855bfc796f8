#include "tuner/search/opportunity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "graph/models/buckets.h"
#include "graph/shape_words.h"
#include "playbook/tuned_donor.h"
#include "tuner/search/rebase.h"

namespace amdahl {
std::string Opportunity::describe(const Plan& plan) const {
  const auto name = [&](int s) {
    const Problem& p = plan.steps[static_cast<size_t>(s)].variant.problem;
    return p.kind + (p.out.empty() ? "" : " " + in_words(p.out[0].shape));
  };
  const std::vector<int>& steps = windows[0].steps;
  if (steps.size() > 3) return fmt::format("{} + {} + … + {} ({} steps)", name(steps[0]), name(steps[1]), name(steps.back()), steps.size());
  std::string text;
  for (int s : steps) text += (text.empty() ? "" : " + ") + name(s);
  return text;
}

namespace {

// By bucket: the mean time of a bucket over its own.
std::vector<double> bucket_weights(const Graph& graph, const Plan& plan, const Profile& profile) {
  std::vector<double> seconds(std::max<size_t>(1, graph.buckets.size()), 0);
  double sum = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    seconds[bucket_of(graph.buckets, plan.steps[s].outputs[0].value)] += profile.steps[s].seconds;
    sum += profile.steps[s].seconds;
  }
  for (double& w : seconds) w = w > 0 ? sum / static_cast<double>(seconds.size()) / w : 1;
  return seconds;
}

// A line of a result is read before it is written, where stores are not streamed.
double bytes_moved(const Step& step) {
  double bytes = kernel_kind(step.variant.problem.kind).work(step.variant.problem).bytes;
  for (const Access& result : step.variant.problem.out) bytes += static_cast<double>(numel(result.shape)) * static_cast<double>(size_of(result.dtype));
  return bytes;
}

std::set<Operand> results_out_of_cache(const Plan& plan, const Profile& profile) {
  std::set<Operand> results;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (profile.steps[s].seconds * profile.memory_gbs * 1e9 >= bytes_moved(plan.steps[s]) && profile.memory_gbs > 0)
      results.insert(plan.steps[s].outputs.begin(), plan.steps[s].outputs.end());
  return results;
}

}  // namespace

std::vector<Opportunity> find_opportunities(const Graph& graph, const Plan& plan, const Profile& profile, const std::vector<const Rewrite*>& rewrites,
                                            const Target& target) {
  const Uses uses = uses_of(graph);
  const std::vector<ValueId> storage = storage_of(graph);
  RewriteContext context = RewriteContext::of(graph, plan, target, uses, storage);
  context.out_of_cache = results_out_of_cache(plan, profile);
  const std::vector<double> weights = bucket_weights(graph, plan, profile);
  std::map<std::vector<int>, std::string> signatures;
  std::vector<Opportunity> found;
  for (const Rewrite* rewrite : rewrites) {
    std::map<std::string, size_t> index;
    for (size_t anchor = 0; anchor < plan.steps.size(); ++anchor) {
      std::string refusal;
      std::optional<Match> match = rewrite->match(context, static_cast<int>(anchor), &refusal);
      if (!match) continue;
      std::string& s = signatures[match->window.steps];
      if (s.empty()) s = signature(graph, plan, match->window);
      const auto [it, is_new] = index.try_emplace(s, found.size());
      if (is_new) {
        if (rewrite->structural()) begin_as_tuned(context, *match);
        found.emplace_back();
        found.back().rewrite = rewrite;
        found.back().signature = s;
        found.back().match = *match;
      }
      Opportunity& o = found[it->second];
      o.windows.push_back(match->window);
      for (int step : match->window.steps) {
        const StepProfile& p = profile.steps[static_cast<size_t>(step)];
        const double weight = weights[bucket_of(graph.buckets, plan.steps[static_cast<size_t>(step)].outputs[0].value)];
        if (p.seconds > 0) o.weight = (o.weight * o.seconds + weight * p.seconds) / (o.seconds + p.seconds);
        o.seconds += p.seconds;
        // Fusing saves the traffic between steps, which their floors contain: about half is a cautious guess.
        o.winnable_seconds += std::max(0.0, p.seconds - p.floor.seconds * (rewrite->structural() ? 0.5 : 1.0));
      }
    }
  }
  return found;
}

namespace {

// A conversion to a format in which the plan has the value already is not made again: the window before may end in the layout that this one
// begins with (every second block of resnet50's stages was left alone for that).
std::vector<Step> without_conversions_made(const Plan& plan, const Window& place, std::vector<Step> steps) {
  std::set<Operand> made;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (std::find(place.steps.begin(), place.steps.end(), static_cast<int>(s)) == place.steps.end())
      made.insert(plan.steps[s].outputs.begin(), plan.steps[s].outputs.end());
  std::erase_if(steps, [&](const Step& s) { return s.nodes.empty() && s.outputs.size() == 1 && made.count(s.outputs[0]) > 0; });
  return steps;
}

}  // namespace

Plan apply_everywhere(const Graph& graph, const Plan& plan, const std::vector<Window>& windows, const std::vector<Step>& replacement, int* applied) {
  Plan out = plan;
  *applied = 0;
  for (const Window& window : windows) {
    const std::vector<Step> here = window.steps == windows[0].steps ? replacement : transfer(graph, plan, windows[0], window, replacement);
    const std::optional<Window> place = relocate(plan, window, out);
    if (!place) continue;
    try {
      Plan next = replace(graph, out, *place, without_conversions_made(out, *place, here));
      if (!check(graph, next).empty()) continue;
      out = std::move(next);
    } catch (const Error&) {  // two places that lean on each other: the second would make a cycle
      continue;
    }
    ++*applied;
  }
  return out;
}

}  // namespace amdahl
