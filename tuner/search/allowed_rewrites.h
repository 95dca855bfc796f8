#pragma once
// The rewrites that a session may use: those that the user allows, and of these no one that rounds more than the model can have
// (docs/decisions/0020-what-costs-accuracy-is-asked-of-the-model-first.md).

#include <set>
#include <string>
#include <vector>

#include "tuner/search/progress_reporter.h"

namespace amdahl {

class AllowedRewrites {
 public:
  explicit AllowedRewrites(const TuneContext& context);

  // In playbook order.
  const std::vector<const Rewrite*>& list() const { return rewrites_; }
  // Taken as windows come, what rounds more would use up the limit at the first ones and leave the last in fp32. So it is offered where the limit
  // allows it everywhere, and nowhere else.
  void leave_out_what_rounds_too_much(const Plan& starter, ProgressReporter& progress);
  // Whether a form, of whatever origin, has something of what was left out.
  bool rounds_too_much(const std::vector<Step>& form) const;

 private:
  bool is_too_rough(const Plan& everywhere, const Draw& inputs) const;

  const TuneContext& context_;
  std::vector<const Rewrite*> rewrites_;
  std::set<std::string> too_rough_;  // declared algorithms of what this model cannot have everywhere
};

}  // namespace amdahl
