#include "tuner/search/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/error.h"
#include "experiments/provenance.h"
#include "profiler/processor_load.h"
#include "tuner/search/applied_everywhere.h"
#include "tuner/search/draft.h"
#include "tuner/search/pending_wins.h"
#include "tuner/search/same_blocks.h"
#include "tuner/search/scheduler.h"
#include "tuner/search/searcher.h"
#include "tuner/search/trial_costs.h"

namespace amdahl {
namespace {

constexpr double kFaster = 0.005;   // log ratio by which a form must beat the draft: under the noise of a race, but no tie
constexpr double kHopeless = 0.35;  // a first form this much slower is no place to start a search from
// A proof that is not decided by so many pairs (a win that all pairs show is) waits while something else promises more than twice as much a second: wins
// of 2 to 3% took 13 to 44 pairs a stage, 40 to 120 s of five sessions' ten minutes, and brought 0.3% of the model.
constexpr size_t kPairsBeforeDoubt = 9;
constexpr double kWorthGoingOn = 0.5;
constexpr int kMostWaits = 14;  // for a quieter machine, where no budget ends them: about ten minutes

// The search for a faster form of one window, up to the one proof that ends it.
struct Campaign {
  Opportunity target;              // on the head plan
  WindowTask task;
  std::string incumbent;           // candidate_id
  Draft draft;
  double draft_ratio = 0;          // log(incumbent / draft) in the race; a first form of a fusion may start below zero
  double pace_ratio = 0;           // log(incumbent / the form that challengers race)
  std::set<std::string> barren{};  // rewrites that brought nothing since the draft last became faster
  // The fastest so far that passed validation and beat the incumbent.
  std::optional<Experiment> best{};
  Proposal best_form{};
  Built best_built{};
};

Plan plan_of(const SessionStore& store, const char* which) {
  const Json state = store.state();
  if (state.is_object())
    for (const PlanRecord& p : store.plans())
      if (p.id == state.at(which).get<int64_t>()) return p.plan.get<Plan>();
  throw Error(ExitCode::kSessionDamaged, "the session holds no plan: run `amdahl tune` first");
}

}  // namespace

Plan gated_plan(const SessionStore& store) { return plan_of(store, "gated"); }
Plan head_plan(const SessionStore& store) { return plan_of(store, "head"); }

// What to try next, and the search for a faster form of one window.
struct Tuner::Loop : PendingWins {
  std::vector<const Rewrite*> rewrites;
  const std::map<std::string, WisdomForm> known;
  const SearchPolicy& policy;
  std::set<std::string> too_rough{};  // params["declared"] of what this model cannot have everywhere
  std::set<std::string> judged{};     // signatures of windows that were made ready in this run
  bool left_for_time = false;         // something promised enough, and would have taken too long
  int waits = 0;                      // for a quieter machine

  // ---- a campaign on one window ----------------------------------------------------------------------------------------

  Scheduler scheduler() const {
    Scheduler s(policy, {.burst = options.burst, .patience = options.patience});
    for (const auto& [id, e] : experiments) s.observe(e);
    return s;
  }

  std::optional<Choice> choose() {
    if (opportunities.empty()) opportunities = find_opportunities(graph, head, profile, rewrites, lab.target());
    return choose_beside(nullptr);
  }
  std::optional<Choice> choose_beside(const Opportunity* taken) const {
    Scheduler s = scheduler();
    for (const auto& [rewrite, sign] : exhausted) s.exclude(rewrite, sign);
    if (taken) s.exclude(std::string(taken->rewrite->name()), taken->signature);
    Random random = random_for(next_id(), 0xc4005e);
    return s.choose(opportunities, profile.seconds, random);
  }

  // A new form of steps elsewhere promises more a second than what is left to vary here: this one is proven as it stands, and refined when all
  // of them are in place. With new kernels there and here, what is left is not asked.
  bool another_form_comes_first(const Opportunity& target, double rate_inside) const {
    if (!target.rewrite->structural()) return false;
    const std::optional<Choice> next = choose_beside(&target);
    if (!next) return false;
    const Rewrite& other = *opportunities[next->opportunity].rewrite;
    if (target.rewrite->brings_kernels() && other.brings_kernels()) return true;
    return other.structural() && next->rate() > rate_inside;
  }

  // ---- wisdom ----------------------------------------------------------------------------------------------------------

  bool was_tried(const Opportunity& o, const std::string& candidate) const {
    const auto same = [&](const auto& numbered) {
      const Experiment& e = numbered.second;
      return e.signature == o.signature && (e.candidate == candidate || e.incumbent == candidate) && !may_return(e);
    };
    return candidate == candidate_id(steps_of(head, o.windows[0])) || std::any_of(experiments.begin(), experiments.end(), same);
  }

  // The opportunity whose known form promises the model most; none when all of them were tried or promise nothing.
  std::optional<size_t> most_promising_known() const {
    std::optional<size_t> best;
    double most = options.smallest_gain;
    for (size_t i = 0; i < opportunities.size(); ++i) {
      const Opportunity& o = opportunities[i];
      const auto form = known.find(o.signature);
      if (form == known.end() || rounds_too_much(form->second.steps) || exhausted.count({std::string(o.rewrite->name()), o.signature})) continue;
      const double promised = model_gain(o.seconds / std::max(profile.seconds, 1e-12), form->second.log_gain);
      if (promised < most || was_tried(o, candidate_id(form->second.steps))) continue;
      most = promised;
      best = i;
    }
    return best;
  }

  // That of the opportunity for a name that this playbook does not have: an older one's, or of a test.
  static const Rewrite& rewrite_named(const std::string& name, const Opportunity& o) {
    const Rewrite* rewrite = find_rewrite(name);
    return rewrite ? *rewrite : *o.rewrite;
  }

  // Tries the most promising form that earlier sessions proved. It is judged and proven as any other; only the search for it is
  // saved. False when there is none.
  bool recall() {
    if (known.empty()) return false;
    if (opportunities.empty()) opportunities = find_opportunities(graph, head, profile, rewrites, lab.target());
    const std::optional<size_t> number = most_promising_known();
    if (!number) return false;
    const Opportunity target = opportunities[*number];
    const WisdomForm& form = known.at(target.signature);
    Campaign c = campaign_on(target);
    status.why = fmt::format("wisdom{}: {} came to {:.2f}x there in {}", form.origin.empty() ? "" : " from " + form.origin, form.rewrite,
                             std::exp(form.log_gain), form.model);
    if (!enter(c)) return true;
    const std::vector<Step> steps = placed(graph, head, target.windows[0], form.steps);
    burst(c, rewrite_named(form.rewrite, target), {{steps, {}, candidate_id(steps)}});
    if (c.best) settle(c);
    return true;
  }

  // What to try next on top of the draft.
  struct Inside {
    Opportunity opportunity;
    double rate;  // gain a second
  };
  std::optional<Inside> choose_inside(const Campaign& c) {
    std::vector<Opportunity> offers;
    const double won = c.target.seconds * -std::expm1(-std::max(0.0, c.draft_ratio));  // by the draft already
    for (Opportunity& o : c.draft.offers(rewrites, lab.target())) {
      if (c.barren.count(std::string(o.rewrite->name()))) continue;
      o.signature = c.target.signature;  // experience with a rewrite is kept by campaign
      o.seconds = c.target.seconds - won;
      o.weight = c.target.weight;
      o.winnable_seconds = std::max(0.0, c.target.winnable_seconds - won);
      offers.push_back(std::move(o));
    }
    Random random = random_for(next_id(), 0x1d51de);
    const std::optional<Choice> choice = scheduler().choose(offers, profile.seconds, random);
    if (!choice) return std::nullopt;
    status.why = choice->why;
    return Inside{offers[choice->opportunity], choice->rate()};
  }

  bool budget_is_spent() const {
    return out_of_time() || (options.experiments > 0 && static_cast<int64_t>(experiments.size()) >= options.experiments);
  }
  // A win without its proof is worth nothing: time for both stages is set aside.
  bool must_prove_now(const Opportunity& target) const {
    return options.seconds > 0 && spent() + closing_seconds(/*one_more=*/true) + 1.25 * cost_of_proof(run_seconds(target)) > options.seconds;
  }

  void run_campaign(const Choice& choice) {
    const Opportunity target = opportunities[choice.opportunity];
    Campaign c = campaign_on(target);
    // What an interrupted run left unproven comes first.
    const std::vector<Proposal> unproven = unproven_form(c);
    if (unproven.empty() && proposals_for(c, target).empty()) {  // all of it was tried: a window is not made ready for nothing
      exhausted.insert({std::string(target.rewrite->name()), target.signature});
      return;
    }
    status.why = choice.why;
    if (!enter(c)) return;
    // What was offered on the head's steps fits no draft that has others.
    const bool drafted = !unproven.empty() && burst(c, *target.rewrite, unproven);
    std::optional<Inside> next = drafted ? choose_inside(c) : Inside{target, choice.rate()};
    const int patience = fruitless_bursts(run_seconds(target), options.burst, options.patience);
    for (int fruitless = 0; next;) {
      const Rewrite& rewrite = *next->opportunity.rewrite;
      const std::vector<Proposal> proposals = proposals_for(c, next->opportunity);
      if (proposals.empty()) exhausted.insert({std::string(rewrite.name()), target.signature});
      const bool faster = !proposals.empty() && burst(c, rewrite, proposals);
      if (faster) c.barren.clear();
      else c.barren.insert(std::string(rewrite.name()));
      fruitless = faster ? 0 : fruitless + !proposals.empty();
      if (fruitless >= patience || budget_is_spent() || (c.best && must_prove_now(target))) break;
      next = choose_inside(c);
      if (c.best && next && another_form_comes_first(target, next->rate)) break;
    }
    if (c.best) race_control(c);
    if (c.best) settle(c);
  }

  // What the blocks of the best form bring without its algorithm, which the report tells from each other (experiments/win_factors.h). It may be the
  // faster of the two; then it is what is proven.
  void race_control(Campaign& c) {
    if (budget_is_spent() || must_prove_now(c.target)) return;
    const std::optional<std::vector<Step>> control = in_blocks_of(c.best_form.steps, c.task.incumbent, lab.target());
    if (!control || was_tried(c.target, candidate_id(*control))) return;
    burst(c, *find_rewrite("adopt_knobs"), {{*control, control->front().variant.knobs, candidate_id(*control)}});
  }

  static double run_seconds(const Opportunity& o) { return o.seconds / static_cast<double>(o.windows.size()); }

  Campaign campaign_on(const Opportunity& target) const {
    Campaign c{target, task_on(head, target.signature, target.windows[0]), {}, Draft(graph, head, target.windows[0])};
    c.incumbent = candidate_id(c.task.incumbent);
    return c;
  }

  // Makes the laboratory ready for challengers of the campaign's window.
  bool enter(const Campaign& c) {
    status.rewrite = c.target.rewrite->name();
    status.window = c.target.describe(head);
    say("preparing the judge");
    const double start = lab.now();
    const std::string unusable = lab.enter(c.task);
    phases["judge"] += since(start);
    // Half a second is for starting processes, however small the window.
    if (judged.insert(c.task.signature).second) judge_runs = std::max(judge_runs, (since(start) - 0.5) / std::max(run_seconds(c.target), 1e-4));
    if (!unusable.empty()) {
      exhausted.insert({status.rewrite, c.target.signature});
      observer.on_note(fmt::format("{} on {} is left alone: {}", status.rewrite, status.window, unusable));
      return false;
    }
    const Built incumbent = lab.build({c.task.incumbent})[0];
    if (incumbent.ok) codes[c.target.signature].try_emplace(incumbent.code, 0);
    return true;
  }

  // Candidates that were only rolled back with another win may come again.
  static bool may_return(const Experiment& e) { return e.stage == "gate" && e.outcome == Outcome::kInconclusive; }
  static bool won_its_race(const Experiment& e) { return e.stage == "race" && e.outcome == Outcome::kInconclusive; }

  // What an experiment put in the place of its window, for a window of the head that is equal to it.
  Proposal as_tried(const Experiment& e, const Window& window) const {
    const std::vector<Step> local = localized(graph, plans.at(e.plan).plan.get<Plan>(), {e.steps}, e.replacement.get<std::vector<Step>>());
    return {placed(graph, head, window, local), e.knobs.get<Knobs>(), e.candidate};
  }

  // The fastest form that won its race against this incumbent and never came to its proof, or lost its place through no
  // fault of its own; none when a form at least as fast went to a proof.
  std::vector<Proposal> unproven_form(const Campaign& c) const {
    const Experiment* fastest = nullptr;
    for (const auto& [id, e] : experiments) {
      if (e.signature != c.target.signature || e.incumbent != c.incumbent) continue;
      const bool open = won_its_race(e) || may_return(e);
      const bool proved = !open && (e.stage == "prove" || e.stage == "proven" || e.stage == "confirm" || e.stage == "gate");
      if (!proved && !(open && e.steps == c.target.windows[0].steps)) continue;
      if (!fastest || e.race_log_ratio > fastest->race_log_ratio) fastest = &e;
    }
    if (!fastest || !(won_its_race(*fastest) || may_return(*fastest))) return {};
    return {as_tried(*fastest, c.target.windows[0])};
  }

  std::vector<Proposal> proposals_for(const Campaign& c, const Opportunity& o) const {
    std::set<std::string> known{c.incumbent};
    for (const auto& [id, e] : experiments)
      if (e.signature == c.target.signature && !may_return(e)) known.insert(e.candidate);
    int count = candidates_of_burst(run_seconds(c.target), options.burst);
    if (options.experiments > 0)
      count = static_cast<int>(std::min<int64_t>(count, options.experiments - static_cast<int64_t>(experiments.size())));
    if (count <= 0) return {};
    Random random = random_for(next_id(), 0x5ea7c4);
    const auto form_of = [&](const std::vector<Step>& replacement) { return c.draft.form(o.match, replacement); };
    return propose(o.match, form_of, lab.target(), known, count, random);
  }

  // ---- proofs that wait ------------------------------------------------------------------------------------------------

  // What a proof under way promises the model, log, for each second that it and its confirmation will still take.
  static double worth_a_second(const Experiment& e, const DecisionRule& rule) {
    const SignTest test(rule, e.prove_log_ratios);
    const double seconds = e.seconds.prove / test.pairs() * (test.pairs_left() + test.pairs_of_a_stage());
    return model_gain(e.share, std::max(0.0, median(e.prove_log_ratios))) / seconds;
  }

  struct WaitingProof {
    int64_t experiment;
    size_t opportunity;
    double worth_a_second;
  };
  // The one worth most; its window stands as it did.
  std::optional<WaitingProof> best_waiting_proof() const {
    std::optional<WaitingProof> best;
    for (const auto& [id, e] : experiments) {
      if (!won_its_race(e) || e.prove_log_ratios.empty()) continue;
      const auto o = std::find_if(opportunities.begin(), opportunities.end(), [&](const Opportunity& at) {
        return at.signature == e.signature && candidate_id(steps_of(head, at.windows[0])) == e.incumbent;
      });
      if (o == opportunities.end()) continue;
      const double worth = worth_a_second(e, options.rules.of(e.replacement.get<std::vector<Step>>()).rule);
      if (!best || worth > best->worth_a_second) best = WaitingProof{id, static_cast<size_t>(o - opportunities.begin()), worth};
    }
    return best;
  }

  // Goes on with a proof that waits when `next` promises less. False when none does.
  bool finish_a_proof(const std::optional<Choice>& next) {
    const std::optional<WaitingProof> waiting = best_waiting_proof();
    if (!waiting || (next && next->rate() > waiting->worth_a_second)) return false;
    Experiment e = experiments.at(waiting->experiment);
    const Opportunity target = opportunities[waiting->opportunity];
    Campaign c = campaign_on(target);
    status.why = "its proof waited for what promised more";
    if (!enter(c)) {
      end(e, Outcome::kInconclusive, "prove", "not proven: its window cannot be judged any more");
      return true;
    }
    burst(c, rewrite_named(e.rewrite, target), {as_tried(e, target.windows[0])});
    if (c.best) settle(c);
    return true;
  }

  // ---- one candidate ---------------------------------------------------------------------------------------------------

  // Of a form that wisdom brought, or of a text in it.
  std::string origin_of(const Campaign& c, const Proposal& p) const {
    const auto form = known.find(c.target.signature);
    if (form != known.end() && p.id == candidate_id(form->second.steps)) return form->second.origin;
    if (!holds_foreign_text(p.steps)) return "";
    std::vector<Experiment> earlier;
    for (const auto& [id, e] : experiments) earlier.push_back(e);
    return amdahl::origin_of(earlier, p.steps);
  }

  Experiment start(const Campaign& c, const Rewrite& rewrite, const Proposal& p) const {
    Experiment e;
    e.id = next_id();
    e.rewrite = rewrite.name();
    e.tier = rewrite.tier();
    for (const auto& [id, known] : experiments) {  // a form that is taken up again keeps its number
      if (known.signature != c.target.signature || known.candidate != p.id || !(won_its_race(known) || may_return(known))) continue;
      e.id = known.id;
      e.rewrite = known.rewrite;
      e.tier = known.tier;
      if (!won_its_race(known) || known.incumbent != c.incumbent) continue;
      e.prove_log_ratios = known.prove_log_ratios;  // of a proof that was given up: all its pairs count
      e.seconds.prove = known.seconds.prove;
      e.pairs_dropped = known.pairs_dropped;
      e.dropped_log_ratios = known.dropped_log_ratios;
    }
    e.signature = c.target.signature;
    e.window = c.target.describe(head);
    e.plan = head_id;
    e.steps = c.target.windows[0].steps;
    e.occurrences = static_cast<int>(c.target.windows.size());
    e.candidate = p.id;
    e.incumbent = c.incumbent;
    e.replacement = p.steps;
    e.origin = origin_of(c, p);
    e.knobs = p.knobs;
    e.seed = judged_random(e.id, 0).next() >> 1;
    e.share = c.target.seconds / std::max(profile.seconds, 1e-12);
    return e;
  }

  // Builds, screens and races some candidates; the fastest becomes the draft. True when it did.
  bool burst(Campaign& c, const Rewrite& rewrite, const std::vector<Proposal>& proposals) {
    status.rewrite = rewrite.name();
    say("building " + counted(proposals.size(), "candidate"));
    std::vector<std::vector<Step>> forms;
    for (const Proposal& p : proposals) forms.push_back(p.steps);
    const double build_start = lab.now();
    const std::vector<Built> built = lab.build(forms);
    const double build_seconds = since(build_start) / static_cast<double>(proposals.size());

    say("validating and racing");
    // A fusion is not judged by its first form: the best of a first burst is the draft even when it loses.
    const bool any_form = rewrite.structural() && c.draft_ratio == 0 && !c.best;
    int fastest = -1;
    double bar = any_form ? -kHopeless : c.draft_ratio + kFaster;
    for (size_t i = 0; i < proposals.size() && !out_of_time(); ++i) {
      check_stop();
      if (c.best && must_prove_now(c.target)) break;  // to judge 64 MiB takes 3 to 5 s a candidate
      Experiment e = start(c, rewrite, proposals[i]);
      e.seconds.build = build_seconds;
      if (built[i].ok) e.object_code = built[i].code;
      if (!screen(e, c, proposals[i], built[i]) || e.race_log_ratio <= bar) continue;
      fastest = static_cast<int>(i);
      c.draft_ratio = e.race_log_ratio;
      bar = c.draft_ratio + kFaster;
      if (lab.pace(proposals[i].steps, built[i])) c.pace_ratio = c.draft_ratio;
      if (!won_its_race(e)) continue;
      c.best = e;
      c.best_form = proposals[i];
      c.best_built = built[i];
    }
    if (fastest < 0) return false;
    c.draft.assume(proposals[static_cast<size_t>(fastest)].steps);
    return true;
  }

  // True when the candidate came to its race. Always records it.
  bool screen(Experiment& e, Campaign& c, const Proposal& p, const Built& built) {
    if (!built.ok) {
      e.code = built.failure_code;
      end(e, built.outcome(), "build", built.message);
      return false;
    }
    const auto [twin, is_new] = codes[e.signature].try_emplace(built.code, e.id);
    if (!is_new && twin->second != e.id) {
      end(e, Outcome::kReverted, "build",
          twin->second == 0 ? "compiles to the incumbent's object code"
                            : fmt::format("compiles to the object code of experiment {}", twin->second));
      return false;
    }
    const double best = c.best ? c.best->race_log_ratio : 0;
    const Screened s = lab.screen(p.steps, built, best - c.pace_ratio);
    e.seconds.validate = s.validate_seconds;
    e.seconds.race = s.race_seconds;
    if (s.pace_lost) c.pace_ratio = 0;
    if (s.failure) {
      end(e, *s.failure);
      return false;
    }
    e.race_log_ratio = c.pace_ratio + s.race.log_ratio;
    e.incumbent_seconds = s.race.seconds_a * std::exp(c.pace_ratio);
    e.challenger_seconds = s.race.seconds_b;
    const std::string came_to = fmt::format("{:+.1f}% in the race", 100 * std::expm1(e.race_log_ratio));
    // As burst() chooses: a tie with the best must not be taken up again as unproven.
    const double delta = options.rules.of(p.steps).rule.delta;
    if (e.race_log_ratio > std::max(delta, c.best ? best + kFaster : 0.0))
      end(e, Outcome::kInconclusive, "race", came_to + ", not proven");
    else
      end(e, Outcome::kReverted, "race",
          c.best && e.race_log_ratio > delta ? fmt::format("{}, experiment {} has {:+.1f}%", came_to, c.best->id, 100 * std::expm1(best))
                                                          : came_to);
    return true;
  }

  void settle(Campaign& c) {
    if (out_of_time()) return;  // its builds alone would run over: a resumed run takes it up
    Experiment& e = *c.best;
    if (const std::string why = not_worth_a_proof(e, options.rules.of(c.best_form.steps)); !why.empty()) {
      end(e, Outcome::kReverted, "race", fmt::format("{:+.1f}% in the race: {}", percent(e.race_log_ratio), why));
      return;
    }
    if (!prove(e, c)) return;
    apply(e, c.target, c.best_form);
  }

  // The rule proves nothing below delta and little below the noise; and the smaller the window's share, the more it must win.
  std::string not_worth_a_proof(const Experiment& e, const ProofRule& rule) const {
    const double promised = model_gain(e.share, e.race_log_ratio);
    if (promised < options.smallest_gain)
      return fmt::format("{:.3f}% of the model, not worth a proof (from {:.2f}% on)", percent(promised), percent(options.smallest_gain));
    const double provable = std::max(rule.rule.delta, rule.hopeful_gain);
    if (e.race_log_ratio < provable)
      return fmt::format("a gain below {:.1f}% is hardly ever proven on this machine, not worth a proof", percent(provable));
    return "";
  }

  bool prove(Experiment& e, const Campaign& c) {
    say("proving in fresh processes");
    const DecisionRule& rule = options.rules.of(c.best_form.steps).rule;
    const std::optional<Choice> elsewhere = choose_beside(&c.target);
    const std::vector<double> earlier = e.prove_log_ratios;
    const double start = lab.now() - e.seconds.prove;
    Random random = judged_random(e.id, 0x9407e + earlier.size());
    const Evidence evidence = gather_evidence(lab, rule, c.best_form.steps, c.best_built, /*first_build=*/1, random, [&](const std::vector<double>& so_far) {
      check_stop();
      e.seconds.prove = since(start);
      e.prove_log_ratios = so_far;
      if (out_of_time()) return true;  // stays unproven: a resumed run may go on
      return earlier.empty() && elsewhere && so_far.size() >= kPairsBeforeDoubt && worth_a_second(e, rule) < kWorthGoingOn * elsewhere->rate();
    }, earlier);
    e.seconds.prove = since(start);
    e.prove_log_ratios = evidence.log_ratios;
    note(e, evidence);
    if (evidence.end == Evidence::End::kBroken) {
      end(e, *evidence.failure);
    } else if (evidence.end == Evidence::End::kFailed) {
      end(e, outcome_of(evidence), "prove", not_proven(evidence));
    } else if (evidence.end == Evidence::End::kUnfinished && !evidence.log_ratios.empty()) {
      end(e, Outcome::kInconclusive, "race", not_proven(evidence) + " yet: " + (out_of_time() ? "time is up" : "others promise more a second"));
    }
    return evidence.end == Evidence::End::kPassed;
  }

  // Taken as windows come, what rounds more would use up the limit at the first ones and leave the last in fp32. So it is offered where the limit
  // allows it everywhere, and nowhere else.
  void leave_out_what_rounds_too_much() {
    std::vector<const Rewrite*> allowed;  // what the user's permission is for
    for (const Rewrite* r : rewrites)
      if (!r->wants_allowed().empty() && !r->costs_accuracy()) allowed.push_back(r);
    const Plan without = applied_everywhere(graph, starter, allowed, lab.target());
    Draw inputs;
    inputs.seed = judged_random(0, 0xa110).next() >> 1;
    std::erase_if(rewrites, [&](const Rewrite* r) {
      if (!r->costs_accuracy()) return false;
      const Plan everywhere = applied_everywhere(graph, without, {r}, lab.target());
      if (Json(everywhere) == Json(without)) return true;
      say(fmt::format("asking the model what {} everywhere costs", r->name()));
      const ModelCheck check = lab.check_model(everywhere, inputs);
      if (!check.failure && check.error <= options.gate().limit(0)) return false;
      for (const Step& s : everywhere.steps) too_rough.insert(declared_by(s));
      return true;
    });
    for (const Step& s : without.steps) too_rough.erase(declared_by(s));
  }

  static std::string declared_by(const Step& step) { return step.variant.problem.params.value("declared", ""); }
  bool rounds_too_much(const std::vector<Step>& form) const {
    return std::any_of(form.begin(), form.end(), [&](const Step& s) { return too_rough.count(declared_by(s)) > 0; });
  }

  // ---- the loop --------------------------------------------------------------------------------------------------------

  // Time for the window's judge, one candidate, and what closes the session.
  bool too_late_for(const Opportunity& target) const {
    if (options.seconds <= 0) return false;
    const double judge = judged.count(target.signature) ? 0 : std::min(judge_runs * run_seconds(target), 0.25 * options.seconds);
    return spent() + closing_seconds() + judge + runs_of_candidate(run_seconds(target)) > options.seconds;
  }

  // Whether what is left was not offered for what the profile says, and not because it was tried.
  bool profile_rules_something_out() const {
    return std::any_of(opportunities.begin(), opportunities.end(), [&](const Opportunity& o) {
      if (exhausted.count({std::string(o.rewrite->name()), o.signature})) return false;
      return std::none_of(experiments.begin(), experiments.end(),
                          [&](const auto& numbered) { return numbered.second.signature == o.signature && numbered.second.rewrite == o.rewrite->name(); });
    });
  }

  // Nothing promises enough by a profile that was taken while others had the processors: it is taken again, after a while that becomes longer each
  // time. False when the profile can be believed, or there is no time left to wait.
  bool wait_for_a_quieter_machine() {
    if (profile.busy < kBusyShare || !profile_rules_something_out()) return false;
    const double rest = std::min(5.0 * static_cast<double>(1 << std::min(waits, 4)), 60.0);
    if (options.seconds > 0 ? spent() + rest + profile_seconds + closing_seconds() > options.seconds : waits >= kMostWaits) return false;
    ++waits;
    for (double until = lab.now() + rest; lab.now() < until;) {
      say(fmt::format("waiting: other programs have {:.0f}% of the processors, what is left to win cannot be told", 100 * profile.busy));
      lab.rest(std::min(1.0, until - lab.now() + 1e-3));
    }
    measure_profile();
    return true;
  }

  TuneSummary nothing_left() const {
    if (profile.busy >= kBusyShare && profile_rules_something_out())
      return {TuneEnd::kBusy, fmt::format("other programs have {:.0f}% of the processors, so that what is left to win cannot be told: resume when they are done",
                                          100 * profile.busy), {}};
    return {TuneEnd::kConverged, "nothing that is left would gain what can be measured", {}};
  }

  std::optional<TuneSummary> end_of_budget() const {
    if (options.seconds > 0 && spent() + closing_seconds() >= options.seconds) return TuneSummary{TuneEnd::kTimeUp, "time is up", {}};
    if (options.experiments > 0 && static_cast<int64_t>(experiments.size()) >= options.experiments)
      return TuneSummary{TuneEnd::kExperimentsDone, "all experiments are done", {}};
    return std::nullopt;
  }

  TuneSummary with_what_waits(TuneSummary summary) {
    if (unconfirmed()) summary.why += "; the newest win waits for its confirmation: resume";
    else if (gate_waits) summary.why += "; wins that the whole model has not decided on wait: resume";
    status.current_seconds = current_seconds();
    status.proven_log_speedup = proven_log;
    status.seconds_spent = spent();
    status.experiments = static_cast<int64_t>(experiments.size());
    summary.status = status;
    return summary;
  }

  TuneSummary run(double seconds_before_run) {
    started = lab.now() - seconds_before_run;
    TuneSummary summary;
    try {
      if (store.state().is_null()) begin();
      else load();
      phases["machine"] += seconds_before_run;
      if (!budget_is_spent()) leave_out_what_rounds_too_much();
      for (;;) {
        status.rewrite = status.window = status.why = "";
        say("choosing");
        if (const std::optional<TuneSummary> end = end_of_budget()) {
          summary = *end;
        } else if (const std::optional<size_t> due = due_confirmation()) {
          confirm(*due);
          continue;
        } else if (gate_is_due()) {
          run_gate();
          continue;
        } else if (recall()) {
          continue;
        } else if (const std::optional<Choice> choice = choose(); finish_a_proof(choice)) {
          continue;
        } else if (choice && too_late_for(opportunities[choice->opportunity])) {
          const Opportunity& o = opportunities[choice->opportunity];
          exhausted.insert({std::string(o.rewrite->name()), o.signature});  // others may be shorter
          left_for_time = true;
          continue;
        } else if (choice) {
          run_campaign(*choice);
          continue;
        } else if (!pending.empty() && !gate_waits) {
          close();
          continue;  // a roll-back may leave something to try
        } else if (left_for_time) {
          summary = {TuneEnd::kTimeUp, "time is up", {}};
        } else if (wait_for_a_quieter_machine()) {
          continue;
        } else {
          summary = nothing_left();
        }
        close();
        // What the report says is left is of the plan that was kept; of several shapes the caller takes profiles in turns.
        if (profiled_id != head_id && graph.buckets.empty() && fits(profile_seconds + headline_seconds())) measure_profile();
        break;
      }
    } catch (const Stopped&) {
      summary = {TuneEnd::kStopped, "stopped; everything is kept", {}};
    }
    if (!plans.empty()) commit({});  // the seconds spent, and on what
    return with_what_waits(summary);
  }
};

namespace {

std::vector<const Rewrite*> allowed_of(const TuneContext& context) {
  std::vector<const Rewrite*> allowed;
  for (const Rewrite* r : context.rewrites)
    if (context.options.allows(*r)) allowed.push_back(r);
  return allowed;
}

}  // namespace

Tuner::Tuner(const TuneContext& c)
    : loop_(new Loop{{{c.graph, c.store, c.laboratory, c.options, c.observer, c.stop}}, allowed_of(c), c.known, c.policy}) {}

Tuner::~Tuner() = default;

TuneSummary Tuner::run(double seconds_before) { return loop_->run(seconds_before); }

}  // namespace amdahl
