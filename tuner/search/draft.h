#pragma once
// A window under search. A campaign on a window tries one rewrite on top of another (a packed panel, then its tile, then
// its blocks) before anything is proven: the draft is the form it has come to, put into the plan so that the playbook can
// look at it. What rewrites offer inside the draft becomes a form of the whole window again, so that every candidate is
// judged against the one incumbent.

#include <vector>

#include "tuner/search/opportunity.h"

namespace amdahl {

class Draft {
 public:
  // Starts as what stands in `head`.
  Draft(const Graph& graph, const Plan& head, const Window& window);

  void assume(const std::vector<Step>& form);
  const Plan& plan() const { return plan_; }
  // Indices into plan().steps that belong to the window.
  const std::vector<int>& inside() const { return inside_; }
  // What `rewrites` offer on windows that lie inside.
  std::vector<Opportunity> offers(const std::vector<const Rewrite*>& rewrites, const Target& target) const;
  // The whole window with `replacement` in place of the match's steps.
  std::vector<Step> form(const Match& match, const std::vector<Step>& replacement) const;

 private:
  std::vector<int> inside_of(const Plan& plan) const;

  const Graph& graph_;
  const Plan& head_;
  const Window window_;
  std::set<Operand> outside_;  // what steps outside the window write
  Plan plan_;
  std::vector<int> inside_;
};

}  // namespace amdahl
