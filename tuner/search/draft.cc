#include "tuner/search/draft.h"

#include <algorithm>

#include "playbook/tuned_donor.h"

namespace amdahl {

Draft::Draft(const Graph& graph, const Plan& head, const Window& window) : graph_(graph), head_(head), window_(window), plan_(head), inside_(window.steps) {
  for (size_t i = 0; i < head.steps.size(); ++i)
    if (!std::binary_search(window.steps.begin(), window.steps.end(), static_cast<int>(i)))
      outside_.insert(head.steps[i].outputs.begin(), head.steps[i].outputs.end());
}

std::vector<int> Draft::inside_of(const Plan& plan) const {
  std::vector<int> inside;
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (!outside_.count(plan.steps[i].outputs[0])) inside.push_back(static_cast<int>(i));
  return inside;
}

void Draft::assume(const std::vector<Step>& form) {
  plan_ = replace(graph_, head_, window_, form);
  inside_ = inside_of(plan_);
}

std::vector<Opportunity> Draft::offers(const std::vector<const Rewrite*>& rewrites, const Target& target) const {
  const Uses uses = uses_of(graph_);
  const std::vector<ValueId> storage = storage_of(graph_);
  const RewriteContext context = RewriteContext::of(graph_, plan_, target, uses, storage);
  std::vector<Opportunity> found;
  for (const Rewrite* rewrite : rewrites) {
    for (int anchor : inside_) {
      std::string refusal;
      std::optional<Match> match = rewrite->match(context, anchor, &refusal);
      if (!match || !std::includes(inside_.begin(), inside_.end(), match->window.steps.begin(), match->window.steps.end())) continue;
      if (rewrite->structural()) begin_as_tuned(context, *match);
      Opportunity o;
      o.rewrite = rewrite;
      o.signature = signature(graph_, plan_, match->window);
      o.match = *match;
      o.windows = {match->window};
      found.push_back(std::move(o));
    }
  }
  return found;
}

std::vector<Step> Draft::form(const Match& match, const std::vector<Step>& replacement) const {
  if (match.window.steps == inside_) return replacement;
  const Plan next = replace(graph_, plan_, match.window, replacement);
  std::vector<Step> form;
  for (int i : inside_of(next)) form.push_back(next.steps[static_cast<size_t>(i)]);
  return form;
}

}  // namespace amdahl
