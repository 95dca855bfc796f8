#include "tuner/search/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tuner/search/campaign_search.h"
#include "tuner/search/candidate_trials.h"
#include "tuner/search/known_forms.h"
#include "tuner/search/pending_wins.h"
#include "tuner/search/prover.h"
#include "tuner/search/quieter_machine.h"
#include "tuner/search/trial_history.h"
#include "tuner/search/verdict.h"
#include "tuner/search/waiting_proofs.h"

namespace amdahl {
namespace {

[[noreturn]] void refuse_without_plan() { throw Error(ExitCode::kSessionDamaged, "the session holds no plan: run `amdahl tune` first"); }

Plan plan_of(const SessionStore& store, const char* which) {
  const Json state = store.state();
  if (state.is_object())
    for (const PlanRecord& p : store.plans())
      if (p.id == state.at(which).get<int64_t>()) return p.plan.get<Plan>();
  refuse_without_plan();
}

}  // namespace

Plan gated_plan(const SessionStore& store) { return plan_of(store, "gated"); }
Plan head_plan(const SessionStore& store) { return plan_of(store, "head"); }

Plan plan_at_start(const SessionStore& store) {
  const std::vector<PlanRecord> plans = store.plans();
  const auto first = std::min_element(plans.begin(), plans.end(), [](const PlanRecord& a, const PlanRecord& b) { return a.id < b.id; });
  if (first == plans.end()) refuse_without_plan();
  return first->plan.get<Plan>();
}

// Decides what to do next, one step after the other, and has the parts do it.
class Tuner::Loop {
 public:
  explicit Loop(const TuneContext& context) : context_(context) {}

  TuneSummary run(double seconds_before) {
    state_.start_clock(seconds_before);
    TuneSummary summary;
    try {
      open();
      state_.spend("machine", seconds_before);
      if (!budget_.is_spent()) rewrites_.leave_out_what_rounds_too_much(state_.starter(), progress_);
      std::optional<TuneSummary> end;
      while (!end) end = step();
      summary = *end;
      close();
    } catch (const Stopped&) {
      summary = {TuneEnd::kStopped, "stopped; everything is kept", {}};
    }
    if (state_.has_plans()) state_.commit_seconds();
    if (state_.unconfirmed()) summary.why += "; the newest win waits for its confirmation: resume";
    else if (wins_.gate_waits()) summary.why += "; wins that the whole model has not decided on wait: resume";
    summary.status = progress_.status();
    return summary;
  }

 private:
  void open() {
    if (state_.is_new()) {
      progress_.say("measuring the default plan");
      state_.begin();
    } else {
      state_.load();
    }
    profile_.load();
  }

  // The loop's next step; how the run ends, when that was its last.
  std::optional<TuneSummary> step() {
    progress_.clear_subject();
    progress_.say("choosing");
    if (const std::optional<TuneSummary> end = end_of_budget()) return end;
    if (go_on_with_a_win() || try_wisdom()) return std::nullopt;
    const std::optional<Choice> choice = prospects_.choose();
    if (go_on_with_a_proof(choice)) return std::nullopt;
    if (!choice) return end_of_search();
    try_choice(*choice);
    return std::nullopt;
  }

  std::optional<TuneSummary> end_of_budget() const {
    if (budget_.time_is_up()) return TuneSummary{TuneEnd::kTimeUp, "time is up", {}};
    if (budget_.out_of_experiments()) return TuneSummary{TuneEnd::kExperimentsDone, "all experiments are done", {}};
    return std::nullopt;
  }

  // Nothing is left that is worth a try, unless a roll-back or a quieter machine brings something.
  std::optional<TuneSummary> end_of_search() {
    if (wins_.may_close()) {
      wins_.close();
      return std::nullopt;
    }
    if (left_for_time_) return TuneSummary{TuneEnd::kTimeUp, "time is up", {}};
    if (quiet_.wait()) {
      profile_.measure();
      return std::nullopt;
    }
    if (quiet_.is_wanted()) return TuneSummary{TuneEnd::kBusy, quiet_.why() + ": resume when they are done", {}};
    return TuneSummary{TuneEnd::kConverged, "nothing that is left would gain what can be measured", {}};
  }

  void close() {
    wins_.close();
    // What the report says is left is of the plan that was kept; of several shapes the caller takes profiles in turns.
    const bool is_missing = !profile_.is_of_head() && context_.graph.buckets.empty();
    if (is_missing && budget_.fits(state_.costs().profile + budget_.headline_seconds())) profile_.measure();
  }

  bool go_on_with_a_win() {
    if (const std::optional<size_t> due = wins_.due_confirmation()) wins_.confirm(*due);
    else if (wins_.gate_is_due()) wins_.run_gate();
    else return false;
    return true;
  }

  // Tries the most promising form that earlier sessions proved; only the search for it is saved. False when there is none.
  bool try_wisdom() {
    if (known_.empty()) return false;
    const std::optional<size_t> number = known_.most_promising(prospects_, state_, rewrites_, profile_.seconds());
    if (!number) return false;
    Campaign c = campaign_on(prospects_.offers()[*number]);
    const Opportunity& target = c.target();
    const WisdomForm& form = known_.at(target.signature);
    progress_.set_reason(fmt::format("wisdom{}: {} came to {:.2f}x there in {}", form.origin.empty() ? "" : " from " + form.origin, form.rewrite,
                                     std::exp(form.log_gain), form.model));
    if (!enter(c)) return true;
    const std::vector<Step> steps = placed(context_.graph, state_.head(), target.windows[0], form.steps);
    trials_.batch(c, rewrite_named(form.rewrite, target), {{steps, {}, candidate_id(steps)}});
    end(c);
    return true;
  }

  // Goes on with a proof that waits when `next` promises less. False when none does.
  bool go_on_with_a_proof(const std::optional<Choice>& next) {
    const std::optional<WaitingProof> waiting = waiting_.due(next);
    if (!waiting) return false;
    Experiment e = state_.experiment(waiting->experiment);
    Campaign c = campaign_on(prospects_.offers()[waiting->opportunity]);
    progress_.set_reason("its proof waited for what promised more");
    if (enter(c)) {
      trials_.batch(c, rewrite_named(e.rewrite, c.target()), {as_tried(context_.graph, state_, e, c.target().windows[0])});
      end(c);
    } else {
      set_verdict(e, Outcome::kInconclusive, "prove", "not proven: its window cannot be judged any more");
      state_.record(e);
    }
    return true;
  }

  void try_choice(const Choice& choice) {
    const Opportunity target = prospects_.offers()[choice.opportunity];
    if (budget_.has_time_for(trials_.seconds_to_first_verdict(target))) return run_campaign(target, choice);
    prospects_.exhaust(target);  // others may be shorter
    left_for_time_ = true;
  }

  void run_campaign(const Opportunity& target, const Choice& choice) {
    Campaign c = campaign_on(target);
    // What an interrupted run left unproven comes first.
    const std::vector<Proposal> unproven = unproven_form(context_.graph, state_, c);
    if (unproven.empty() && trials_.proposals(c, target).empty()) return prospects_.exhaust(target);  // a window is not made ready for nothing
    progress_.set_reason(choice.why);
    if (!enter(c)) return;
    campaign_search_.run(c, unproven, choice.rate());
    end(c);
  }

  // Ends a campaign with the proof of its best form, if there is one.
  void end(const Campaign& c) {
    if (!c.best() || budget_.out_of_time()) return;  // out of time, its builds alone would run over: a resumed run takes it up
    Campaign::Best win = *c.best();
    if (!prover_.is_worth_a_proof(win)) return;
    const std::optional<Choice> elsewhere = prospects_.choose_beside(&c.target());
    if (prover_.prove(win, elsewhere ? elsewhere->rate() : 0)) wins_.apply(std::move(win.experiment), c.target(), win.form);
  }

  Campaign campaign_on(const Opportunity& target) const { return Campaign(context_.graph, state_.head(), target, profile_.seconds()); }

  // Makes the trial runner ready for challengers of the campaign's window. False, with a note, when none can be judged there.
  bool enter(const Campaign& c) {
    const std::string unusable = trials_.enter(c);
    if (unusable.empty()) return true;
    prospects_.exhaust(c.target());
    progress_.note(fmt::format("{} on {} is left alone: {}", c.target().rewrite->name(), c.target().describe(state_.head()), unusable));
    return false;
  }

  // The rewrite of this name; the opportunity's own where this playbook has none: the name is an older one's, or a test's.
  static const Rewrite& rewrite_named(const std::string& name, const Opportunity& o) {
    const Rewrite* rewrite = find_rewrite(name);
    return rewrite ? *rewrite : *o.rewrite;
  }

  const TuneContext context_;
  SessionState state_{context_};
  const SessionBudget budget_{context_, state_};
  ProgressReporter progress_{context_, state_, budget_};
  HeadProfile profile_{context_, state_};
  AllowedRewrites rewrites_{context_};
  Prospects prospects_{context_, state_, profile_, rewrites_};
  const KnownForms known_{context_};
  CandidateTrials trials_{context_, state_, budget_, known_, progress_};
  CampaignSearch campaign_search_{context_, state_, budget_, prospects_, trials_, progress_};
  Prover prover_{context_, state_, budget_, progress_};
  const WaitingProofs waiting_{context_, state_, prospects_};
  PendingWins wins_{context_, state_, budget_, profile_, progress_};
  QuieterMachine quiet_{context_, state_, budget_, profile_, prospects_, progress_};
  bool left_for_time_ = false;  // something promised enough, and would have taken too long
};

Tuner::Tuner(const TuneContext& context) : loop_(std::make_unique<Loop>(context)) {}
Tuner::~Tuner() = default;

TuneSummary Tuner::run(double seconds_before) { return loop_->run(seconds_before); }

}  // namespace amdahl
