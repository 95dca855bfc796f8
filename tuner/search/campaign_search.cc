#include "tuner/search/campaign_search.h"

#include "tuner/search/same_blocks.h"
#include "tuner/search/trial_costs.h"
#include "tuner/search/trial_history.h"

namespace amdahl {

void CampaignSearch::run(Campaign& c, const std::vector<Proposal>& unproven, double rate) {
  // What was offered on the head's steps fits no draft that has others.
  const bool drafted = !unproven.empty() && trials_.batch(c, *c.target().rewrite, unproven);
  try_batch(c, drafted ? choose_inside(c) : Inside{c.target(), rate});
  race_control(c);
}

void CampaignSearch::try_batch(Campaign& c, std::optional<Inside> next) {
  const int patience = fruitless_batches(c.run_seconds(), context_.options.batch, context_.options.patience);
  for (int fruitless = 0; next;) {
    const Rewrite& rewrite = *next->opportunity.rewrite;
    const std::vector<Proposal> proposals = trials_.proposals(c, next->opportunity);
    if (proposals.empty()) prospects_.exhaust(rewrite, c.target().signature);
    const bool faster = !proposals.empty() && trials_.batch(c, rewrite, proposals);
    if (!faster) c.give_up(rewrite);
    fruitless = faster ? 0 : fruitless + !proposals.empty();
    if (fruitless >= patience || budget_.is_spent() || (c.best() && budget_.must_prove_now(c.run_seconds()))) break;
    next = choose_inside(c);
    if (c.best() && next && another_form_comes_first(c.target(), next->rate)) break;
  }
}

std::optional<Inside> CampaignSearch::choose_inside(const Campaign& c) {
  std::optional<Inside> next = prospects_.choose_inside(c);
  if (next) progress_.set_reason(next->why);
  return next;
}

// A new form of steps elsewhere promises more a second than what is left to vary here: this one is proven as it stands, and refined when all
// of them are in place. With new kernels there and here, what is left is not asked.
bool CampaignSearch::another_form_comes_first(const Opportunity& target, double rate_inside) {
  if (!target.rewrite->structural()) return false;
  const std::optional<Choice> next = prospects_.choose_beside(&target);
  if (!next) return false;
  const Rewrite& other = *prospects_.offers()[next->opportunity].rewrite;
  if (target.rewrite->brings_kernels() && other.brings_kernels()) return true;
  return other.structural() && next->rate() > rate_inside;
}

// What the blocks of the best form bring without its algorithm, which the report tells from each other (experiments/win_factors.h). It may be the
// faster of the two; then it is what is proven.
void CampaignSearch::race_control(Campaign& c) {
  if (!c.best() || budget_.is_spent() || budget_.must_prove_now(c.run_seconds())) return;
  const std::optional<std::vector<Step>> control = in_blocks_of(c.best()->form.steps, c.task().incumbent, context_.runner.target());
  if (!control || was_tried(state_, c.target(), candidate_id(*control))) return;
  trials_.batch(c, *find_rewrite("adopt_knobs"), {{*control, control->front().variant.knobs, candidate_id(*control)}});
}

}  // namespace amdahl
