#include "tuner/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "tuner/draft.h"
#include "tuner/gate.h"
#include "tuner/profile_record.h"
#include "tuner/proof.h"
#include "tuner/scheduler.h"
#include "tuner/searcher.h"

namespace amdahl {
namespace {

constexpr double kFaster = 0.005;   // log ratio by which a form must beat the draft: under the noise of a race, but no tie
constexpr double kHopeless = 0.35;  // a first form this much slower is no place to start a search from

// A win that is applied but has not passed the gate: proven, then confirmed on fresh pairs later. Each was found on top of
// the one before.
struct Pending {
  int64_t experiment = 0, plan = 0;
  double predicted = 0;   // log speedup of the model
  double share = 1;       // of the model's time that all its places had
  double proven_at = 0, confirm_at = 0;  // in seconds spent
  bool confirmed = false;
};
void to_json(Json& j, const Pending& p) {
  j = Json{{"experiment", p.experiment}, {"plan", p.plan},           {"predicted", p.predicted}, {"share", p.share},
           {"proven_at", p.proven_at},   {"confirm_at", p.confirm_at}, {"confirmed", p.confirmed}};
}
void from_json(const Json& j, Pending& p) {
  j.at("experiment").get_to(p.experiment);
  j.at("plan").get_to(p.plan);
  j.at("predicted").get_to(p.predicted);
  p.share = j.value("share", p.share);
  p.proven_at = j.value("proven_at", p.proven_at);
  p.confirm_at = j.value("confirm_at", p.confirm_at);
  p.confirmed = j.value("confirmed", true);  // older sessions confirmed at once
}

double percent(double log) { return 100 * std::expm1(log); }

// The search for a faster form of one window, up to the one proof that ends it.
struct Campaign {
  Opportunity target;              // on the head plan
  WindowTask task;
  std::string incumbent;           // candidate_id
  Draft draft;
  double draft_ratio = 0;          // log(incumbent / draft) in the race; a first form of a fusion may start below zero
  std::set<std::string> barren{};  // rewrites that brought nothing since the draft last became faster
  // The fastest so far that passed validation and beat the incumbent.
  std::optional<Experiment> best{};
  Proposal best_form{};
  Built best_built{};
};

// Profile with what the loop needs of a stored one.
Profile restore(const ProfileRecord& r) {
  Profile p;
  p.seconds = r.model_seconds;
  p.steps.resize(r.step_seconds.size());
  for (size_t i = 0; i < p.steps.size(); ++i) {
    p.steps[i].step = static_cast<int>(i);
    p.steps[i].seconds = r.step_seconds[i];
    p.steps[i].floor.seconds = r.floor_seconds[i];
  }
  return p;
}

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

struct Tuner::Loop {
  const Graph& graph;
  SessionStore& store;
  Laboratory& lab;
  std::vector<const Rewrite*> rewrites;
  TuneOptions options;
  TuneObserver& observer;
  const std::atomic<bool>& stop;
  const std::map<std::string, WisdomForm> known;
  const SearchPolicy& policy;

  // Mirrors the store.
  std::map<int64_t, Experiment> experiments;
  std::map<int64_t, PlanRecord> plans;
  int64_t ledger_rows = 0, profile_rows = 0;
  int64_t head_id = 0, gated_id = 0;
  std::vector<Pending> pending;
  double seconds_before = 0;  // spent by earlier runs
  double last_gate_at = 0;    // in seconds spent
  double proven_log = 0;

  // Derived.
  Plan starter, head;
  Profile profile;
  std::vector<Opportunity> opportunities;
  std::set<std::pair<std::string, std::string>> exhausted;      // (rewrite, signature), on this head
  std::map<std::string, std::map<std::string, int64_t>> codes;  // signature, object code -> experiment (0: an incumbent)
  std::unique_ptr<Gate> gate;
  TuneStatus status;
  double gate_seconds = 10;   // what the next gate will take
  double proof_seconds = 10;  // and the next proof
  double started = 0;         // by the laboratory's clock

  double since(double start) const { return lab.now() - start; }
  double spent() const { return seconds_before + since(started); }
  bool out_of_time() const { return options.seconds > 0 && spent() > options.seconds; }
  void check_stop() const {
    if (stop.load()) throw Stopped{};
  }

  // ---- store ---------------------------------------------------------------------------------------------------------

  Json state() const {
    return Json{{"head", head_id},       {"gated", gated_id},         {"pending", pending},
                {"seconds", spent()},    {"last_gate_at", last_gate_at}, {"proven_log", proven_log},
                {"baseline_seconds", status.baseline_seconds}};
  }

  void commit(Commit c) {
    c.state = state();
    for (const Experiment& e : c.experiments) experiments[e.id] = e;
    for (const PlanRecord& p : c.plans) plans[p.id] = p;
    ledger_rows += static_cast<int64_t>(c.ledger.size());
    profile_rows += static_cast<int64_t>(c.profiles.size());
    store.commit(c);
  }

  void load() {
    for (Experiment& e : store.experiments()) experiments[e.id] = std::move(e);
    for (PlanRecord& p : store.plans()) plans[p.id] = std::move(p);
    ledger_rows = static_cast<int64_t>(store.ledger().size());
    const std::vector<ProfileRecord> profiles = store.profiles();
    profile_rows = static_cast<int64_t>(profiles.size());
    const Json s = store.state();
    head_id = s.at("head");
    gated_id = s.at("gated");
    pending = s.at("pending").get<std::vector<Pending>>();
    seconds_before = s.at("seconds");
    last_gate_at = s.at("last_gate_at");
    proven_log = s.at("proven_log");
    status.baseline_seconds = s.at("baseline_seconds");
    starter = plans.begin()->second.plan.get<Plan>();
    head = plans.at(head_id).plan.get<Plan>();
    const auto mine = std::find_if(profiles.rbegin(), profiles.rend(), [&](const auto& p) { return p.plan == head_id; });
    if (mine != profiles.rend()) profile = restore(*mine);
    else measure_profile();
  }

  void begin() {
    say("measuring the default plan");
    starter = head = starter_plan(graph, options.threads);
    PlanRecord record;
    record.id = head_id = gated_id = 1;
    record.gated = true;
    record.plan = head;
    Commit c;
    c.options = options;
    c.plans = {record};
    commit(c);
    measure_profile();
  }

  void measure_profile() {
    // Compilers first: what is timed below says how long a gate will take, and that one finds everything built.
    std::vector<std::vector<Step>> kernels;
    for (const Step& s : head.steps) kernels.push_back({s});
    lab.build(kernels);
    const double start = lab.now();
    profile = lab.profile(head);
    if (status.baseline_seconds == 0 && head_id == plans.begin()->first) status.baseline_seconds = profile.seconds;
    Commit c;
    c.profiles = {profile_record(profile, profile_rows + 1, head_id)};
    commit(c);
    opportunities.clear();
    exhausted.clear();
    // A pair starts two such processes; five to nine pairs, and two checks of the outputs.
    gate_seconds = std::max(gate_seconds, 12 * since(start));
  }

  // ---- progress ------------------------------------------------------------------------------------------------------

  void say(const std::string& phase) {
    check_stop();
    status.phase = phase;
    status.experiments = static_cast<int64_t>(experiments.size());
    status.outcomes.clear();
    for (const auto& [id, e] : experiments) ++status.outcomes[e.outcome];
    status.kept = status.outcomes[Outcome::kKept];
    status.current_seconds = profile.seconds;
    status.proven_log_speedup = proven_log;
    status.seconds_spent = spent();
    status.seconds_left = options.seconds > 0 ? std::max(0.0, options.seconds - spent()) : -1;
    status.experiments_left =
        options.experiments > 0 ? std::max<int64_t>(0, options.experiments - status.experiments) : -1;
    observer.on_status(status);
  }

  // ---- a campaign on one window ----------------------------------------------------------------------------------------

  Random random_for(int64_t number, uint64_t salt) const {
    return Random(options.seed * 0x9e3779b97f4a7c15ull ^ static_cast<uint64_t>(number) * 0xd1342543de82ef95ull ^ salt);
  }
  int64_t next_id() const { return experiments.empty() ? 1 : experiments.rbegin()->first + 1; }

  Scheduler scheduler() const {
    Scheduler s(policy);
    for (const auto& [id, e] : experiments) s.observe(e);
    return s;
  }

  std::optional<Choice> choose() {
    if (opportunities.empty()) opportunities = find_opportunities(graph, head, profile, rewrites, this_machine());
    return choose_beside(nullptr);
  }
  std::optional<Choice> choose_beside(const Opportunity* taken) const {
    Scheduler s = scheduler();
    for (const auto& [rewrite, sign] : exhausted) s.exclude(rewrite, sign);
    if (taken) s.exclude(std::string(taken->rewrite->name()), taken->signature);
    Random random = random_for(next_id(), 0xc4005e);
    return s.choose(opportunities, profile.seconds, random);
  }

  // A form with kernels of its own waits elsewhere: this one is proven as it stands, and refined when all of them are in place.
  bool other_kernels_wait(const Opportunity& target) const {
    if (!target.rewrite->brings_kernels()) return false;
    const std::optional<Choice> next = choose_beside(&target);
    return next && opportunities[next->opportunity].rewrite->brings_kernels();
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
      if (form == known.end() || exhausted.count({std::string(o.rewrite->name()), o.signature})) continue;
      const double promised = model_gain(o.seconds / std::max(profile.seconds, 1e-12), form->second.log_gain);
      if (promised < most || was_tried(o, candidate_id(form->second.steps))) continue;
      most = promised;
      best = i;
    }
    return best;
  }

  // Tries the most promising form that earlier sessions proved. It is judged and proven as any other; only the search for it is
  // saved. False when there is none.
  bool recall() {
    if (known.empty()) return false;
    if (opportunities.empty()) opportunities = find_opportunities(graph, head, profile, rewrites, this_machine());
    const std::optional<size_t> number = most_promising_known();
    if (!number) return false;
    const Opportunity target = opportunities[*number];
    const WisdomForm& form = known.at(target.signature);
    Campaign c{target, {}, {}, Draft(graph, head, target.windows[0])};
    status.why = fmt::format("wisdom: {} came to {:.2f}x there in {}", form.rewrite, std::exp(form.log_gain), form.model);
    if (!enter(c)) return true;
    const std::vector<Step> steps = placed(graph, head, target.windows[0], form.steps);
    const Rewrite* rewrite = find_rewrite(form.rewrite);
    burst(c, rewrite ? *rewrite : *target.rewrite, {{steps, {}, candidate_id(steps)}});
    if (c.best) settle(c);
    return true;
  }

  // What to try next on top of the draft.
  std::optional<Opportunity> choose_inside(const Campaign& c) {
    std::vector<Opportunity> offers;
    for (Opportunity& o : c.draft.offers(rewrites, this_machine())) {
      if (c.barren.count(std::string(o.rewrite->name()))) continue;
      o.signature = c.target.signature;  // experience with a rewrite is kept by campaign
      o.seconds = c.target.seconds;
      o.weight = c.target.weight;
      o.winnable_seconds = c.target.winnable_seconds;
      offers.push_back(std::move(o));
    }
    Random random = random_for(next_id(), 0x1d51de);
    const std::optional<Choice> choice = scheduler().choose(offers, profile.seconds, random);
    if (!choice) return std::nullopt;
    status.why = choice->why;
    return offers[choice->opportunity];
  }

  bool budget_is_spent() const {
    return out_of_time() || (options.experiments > 0 && static_cast<int64_t>(experiments.size()) >= options.experiments);
  }
  // What it takes to end the session: confirmations that are due by then, and a gate.
  double closing_seconds() const {
    double sum = 0;
    for (const Pending& p : pending)
      if (!p.confirmed) sum += 1.5 * experiments.at(p.experiment).seconds.prove + 2;
    // The headline that the caller measures afterwards is a gate without its two float64 runs.
    const double headline = 0.5 * gate_seconds;
    return pending.empty() ? (gated_id == 1 ? 0 : headline) : sum + gate_seconds + headline;
  }
  // A win without its proof is worth nothing: time for both stages is set aside.
  bool must_prove_now() const {
    return options.seconds > 0 && spent() + std::max(gate_seconds, closing_seconds()) + 3 * proof_seconds > options.seconds;
  }

  void run_campaign(const Choice& choice) {
    const Opportunity target = opportunities[choice.opportunity];
    Campaign c{target, {}, {}, Draft(graph, head, target.windows[0])};
    status.why = choice.why;
    if (!enter(c)) return;
    // What an interrupted run left unproven comes first.
    if (std::vector<Proposal> unproven = unproven_form(c); !unproven.empty()) burst(c, *target.rewrite, unproven);
    Opportunity next = target;
    for (int fruitless = 0;;) {
      const std::vector<Proposal> proposals = proposals_for(c, next);
      if (proposals.empty()) exhausted.insert({std::string(next.rewrite->name()), target.signature});
      const bool faster = !proposals.empty() && burst(c, *next.rewrite, proposals);
      if (faster) c.barren.clear();
      else c.barren.insert(std::string(next.rewrite->name()));
      fruitless = faster ? 0 : fruitless + !proposals.empty();
      if (fruitless >= options.patience || budget_is_spent() || (c.best && (must_prove_now() || other_kernels_wait(target)))) break;
      const std::optional<Opportunity> inside = choose_inside(c);
      if (!inside) break;
      next = *inside;
    }
    if (c.best) settle(c);
  }

  static std::vector<Step> steps_of(const Plan& plan, const Window& window) {
    std::vector<Step> steps;
    for (int s : window.steps) steps.push_back(plan.steps[static_cast<size_t>(s)]);
    return steps;
  }

  WindowTask task_on(const Plan& plan, const std::string& sign, const Window& window) const {
    WindowTask task;
    task.signature = sign;
    task.io = io_of(graph, plan, window);
    task.threads = plan.threads;
    task.incumbent = steps_of(plan, window);
    return task;
  }

  // Makes the laboratory ready for challengers of the campaign's window.
  bool enter(Campaign& c) {
    c.task = task_on(head, c.target.signature, c.target.windows[0]);
    c.incumbent = candidate_id(c.task.incumbent);
    status.rewrite = c.target.rewrite->name();
    status.window = c.target.describe(head);
    say("preparing the judge");
    const std::string unusable = lab.enter(c.task);
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
    return {{fastest->replacement.get<std::vector<Step>>(), fastest->knobs.get<Knobs>(), fastest->candidate}};
  }

  std::vector<Proposal> proposals_for(const Campaign& c, const Opportunity& o) const {
    std::set<std::string> known{c.incumbent};
    for (const auto& [id, e] : experiments)
      if (e.signature == c.target.signature && !may_return(e)) known.insert(e.candidate);
    int count = options.burst;
    if (options.experiments > 0)
      count = static_cast<int>(std::min<int64_t>(count, options.experiments - static_cast<int64_t>(experiments.size())));
    if (count <= 0) return {};
    Random random = random_for(next_id(), 0x5ea7c4);
    const auto form_of = [&](const std::vector<Step>& replacement) { return c.draft.form(o.match, replacement); };
    return propose(o.match, form_of, this_machine(), known, count, random);
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
    }
    e.signature = c.target.signature;
    e.window = c.target.describe(head);
    e.plan = head_id;
    e.steps = c.target.windows[0].steps;
    e.occurrences = static_cast<int>(c.target.windows.size());
    e.candidate = p.id;
    e.incumbent = c.incumbent;
    e.replacement = p.steps;
    e.knobs = p.knobs;
    e.seed = random_for(e.id, 0).next() >> 1;
    e.share = c.target.seconds / std::max(profile.seconds, 1e-12);
    return e;
  }

  void end(Experiment& e, const Failure& f) {
    e.seed = f.seed;
    e.code = f.code;
    end(e, f.outcome, f.stage, f.reason);
  }
  void end(Experiment& e, Outcome outcome, const std::string& stage, const std::string& reason) {
    e.outcome = outcome;
    e.stage = stage;
    e.reason = reason;
    Commit c;
    c.experiments = {e};
    commit(c);
    observer.on_experiment(e);
  }

  // Builds, screens and races some candidates; the fastest becomes the draft. True when it did.
  bool burst(Campaign& c, const Rewrite& rewrite, const std::vector<Proposal>& proposals) {
    status.rewrite = rewrite.name();
    say(fmt::format("building {} candidates", proposals.size()));
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
      Experiment e = start(c, rewrite, proposals[i]);
      e.seconds.build = build_seconds;
      if (!screen(e, c, proposals[i], built[i]) || e.race_log_ratio <= bar) continue;
      fastest = static_cast<int>(i);
      c.draft_ratio = e.race_log_ratio;
      bar = c.draft_ratio + kFaster;
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
  bool screen(Experiment& e, const Campaign& c, const Proposal& p, const Built& built) {
    if (!built.ok) {
      e.code = built.failure_code;
      end(e, Outcome::kBuildFailed, "build", built.message);
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
    const Screened s = lab.screen(p.steps, built, best);
    e.seconds.validate = s.validate_seconds;
    e.seconds.race = s.race_seconds;
    if (s.failure) {
      end(e, *s.failure);
      return false;
    }
    e.incumbent_seconds = s.race.seconds_a;
    e.challenger_seconds = s.race.seconds_b;
    e.race_log_ratio = s.race.log_ratio;
    const std::string came_to = fmt::format("{:+.1f}% in the race", 100 * std::expm1(s.race.log_ratio));
    // As burst() chooses: a tie with the best must not be taken up again as unproven.
    const double delta = options.rules.of(p.steps).rule.delta;
    if (s.race.log_ratio > std::max(delta, c.best ? best + kFaster : 0.0))
      end(e, Outcome::kInconclusive, "race", came_to + ", not proven");
    else
      end(e, Outcome::kReverted, "race",
          c.best && s.race.log_ratio > delta ? fmt::format("{}, experiment {} has {:+.1f}%", came_to, c.best->id, 100 * std::expm1(best))
                                                          : came_to);
    return true;
  }

  void settle(Campaign& c) {
    Experiment& e = *c.best;
    if (const std::string why = not_worth_a_proof(e, options.rules.of(c.best_form.steps)); !why.empty()) {
      end(e, Outcome::kReverted, "race", fmt::format("{:+.1f}% in the race: {}", percent(e.race_log_ratio), why));
      return;
    }
    if (!prove(e, c.best_form, c.best_built)) return;
    proof_seconds = e.seconds.prove;
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

  // Records what a stage saw; the outcome is the caller's.
  static void note(Experiment& e, const Evidence& evidence) {
    e.pairs_dropped += static_cast<int>(evidence.dropped.size());
    e.dropped_log_ratios.insert(e.dropped_log_ratios.end(), evidence.dropped.begin(), evidence.dropped.end());
    if (evidence.log_ratios.empty() || evidence.end == Evidence::End::kBroken) return;
    e.incumbent_seconds = evidence.incumbent_seconds;
    e.challenger_seconds = evidence.challenger_seconds;
  }
  static std::string not_proven(const Evidence& evidence) {
    return fmt::format("{:+.1f}% in the median of {} pairs, not proven", percent(median(evidence.log_ratios)), evidence.log_ratios.size());
  }
  static Outcome outcome_of(const Evidence& evidence) {
    return median(evidence.log_ratios) > 0 ? Outcome::kInconclusive : Outcome::kReverted;
  }

  bool prove(Experiment& e, const Proposal& p, const Built& built) {
    say("proving in fresh processes");
    const double start = lab.now();
    Random random = random_for(e.id, 0x9407e);
    const Evidence evidence = gather_evidence(lab, options.rules.of(p.steps).rule, p.steps, built, /*first_build=*/1, random, [&] {
      check_stop();
      return out_of_time();  // stays unproven: a resumed run may go on
    });
    e.seconds.prove = since(start);
    e.prove_log_ratios = evidence.log_ratios;
    note(e, evidence);
    if (evidence.end == Evidence::End::kBroken) {
      end(e, *evidence.failure);
    } else if (evidence.end == Evidence::End::kFailed) {
      end(e, outcome_of(evidence), "prove", not_proven(evidence));
    }
    return evidence.end == Evidence::End::kPassed;
  }

  // ---- apply, confirm --------------------------------------------------------------------------------------------------

  // Puts a proven win into the head: the search goes on on top of it while its confirmation waits.
  void apply(Experiment& e, const Opportunity& o, const Proposal& p) {
    int applied = 0;
    const Plan next = apply_everywhere(graph, head, o.windows, p.steps, &applied);
    if (applied == 0) {
      end(e, Outcome::kMistrusted, "prove", "the replacement does not fit into the plan");
      return;
    }
    e.occurrences = applied;
    Pending win;
    win.experiment = e.id;
    win.share = std::min(0.999, o.seconds * applied / static_cast<double>(o.windows.size()) / std::max(profile.seconds, 1e-12));
    win.predicted = model_gain(win.share, median(e.prove_log_ratios));
    win.proven_at = spent();
    const double left = options.seconds > 0 ? std::max(0.0, options.seconds - spent()) : 1e12;
    win.confirm_at = win.proven_at + std::min(options.rules.of(p.steps).rule.confirm_after, left / 10);
    PlanRecord record;
    record.id = win.plan = plans.rbegin()->first + 1;
    record.parent = head_id;
    record.experiment = e.id;
    record.plan = next;
    e.outcome = Outcome::kInconclusive;
    e.stage = "proven";
    e.reason = fmt::format("{:+.1f}% in the median of {} pairs, at {} places; waits for its confirmation", percent(median(e.prove_log_ratios)),
                           e.prove_log_ratios.size(), applied);
    head = next;
    head_id = record.id;
    pending.push_back(win);
    Commit c;
    c.experiments = {e};
    c.plans = {record};
    commit(c);
    observer.on_experiment(e);
    say("profiling again");
    measure_profile();
  }

  // The oldest win without its confirmation: later ones stand on it.
  std::optional<size_t> unconfirmed() const {
    for (size_t i = 0; i < pending.size(); ++i)
      if (!pending[i].confirmed) return i;
    return std::nullopt;
  }
  std::optional<size_t> due_confirmation() const {
    const std::optional<size_t> i = unconfirmed();
    return i && spent() >= pending[*i].confirm_at ? i : std::nullopt;
  }

  // The second stage: fresh pairs of fresh builds, against the incumbent that the proof had. Everything it needs is in the
  // store, so it may come in another process than the proof. False when time ran out: the win stays pending.
  bool confirm(size_t i) {
    Experiment e = experiments.at(pending[i].experiment);
    status.rewrite = e.rewrite;
    status.window = e.window;
    status.why = "a second proof, of other builds and later";
    say("confirming on fresh pairs");
    const double start = lab.now();
    e.confirm_delay = spent() - pending[i].proven_at;
    const Evidence evidence = second_evidence(e);
    e.seconds.confirm = since(start);
    e.confirm_log_ratios = evidence.log_ratios;
    note(e, evidence);
    if (evidence.end == Evidence::End::kUnfinished) return false;
    if (evidence.end == Evidence::End::kPassed) {
      keep(e, pending[i]);
      return true;
    }
    if (evidence.failure) {
      e.outcome = evidence.failure->outcome;
      e.code = evidence.failure->code;
      e.reason = evidence.failure->reason;
    } else {
      e.outcome = outcome_of(evidence);
      e.reason = not_proven(evidence);
    }
    e.stage = "confirm";
    Commit c;
    c.experiments = {e};
    take_back(i, c);
    commit(c);
    observer.on_experiment(e);
    measure_profile();
    return true;
  }

  Evidence second_evidence(const Experiment& e) {
    const auto replacement = e.replacement.get<std::vector<Step>>();
    Evidence evidence;
    evidence.end = Evidence::End::kBroken;
    evidence.failure = Failure{Outcome::kInconclusive, "", "confirm", "", 0};
    if (const std::string why = lab.enter(task_on(plans.at(e.plan).plan.get<Plan>(), e.signature, {e.steps})); !why.empty()) {
      evidence.failure->reason = "cannot be confirmed: " + why;
      return evidence;
    }
    const Built built = lab.build({replacement})[0];
    if (!built.ok) {
      evidence.failure->reason = "cannot be confirmed: " + built.message;
      return evidence;
    }
    Random random = random_for(e.id, 0xc0f1f);
    const DecisionRule& rule = options.rules.of(replacement).rule;
    return gather_evidence(lab, rule, replacement, built, /*first_build=*/1 + rule.builds, random, [&] {
      check_stop();
      // The last confirmations of a session may run over, as its gate may: not for ever.
      return options.seconds > 0 && spent() > 1.1 * options.seconds + 30;
    });
  }

  void keep(Experiment& e, Pending& win) {
    e.gain = estimate(e.confirm_log_ratios);
    win.predicted = model_gain(win.share, e.gain.log);
    win.confirmed = true;
    e.outcome = Outcome::kKept;
    e.stage = "confirm";
    e.reason = fmt::format("{:+.1f}% [{:+.1f}, {:+.1f}] at {} places, {:+.2f}% of the model predicted; confirmed {:.0f} s after its proof",
                           percent(e.gain.log), percent(e.gain.lo), percent(e.gain.hi), e.occurrences, percent(win.predicted), e.confirm_delay);
    Commit c;
    c.experiments = {e};
    commit(c);
    observer.on_experiment(e);
  }

  // Takes back pending win `i`, whose own record the caller writes. What was built on top of it goes too, and is taken up
  // again before anything new is tried there.
  void take_back(size_t i, Commit& c) {
    for (size_t j = i; j < pending.size(); ++j) {
      PlanRecord record = plans.at(pending[j].plan);
      record.rolled_back = true;
      c.plans.push_back(record);
      if (j == i) continue;
      Experiment e = experiments.at(pending[j].experiment);
      e.stage = "gate";
      e.outcome = Outcome::kInconclusive;
      e.reason = fmt::format("rolled back with experiment {}", pending[i].experiment);
      c.experiments.push_back(e);
    }
    pending.resize(i);
    head_id = pending.empty() ? gated_id : pending.back().plan;
    head = plans.at(head_id).plan.get<Plan>();
    codes.clear();
  }

  // ---- gate ------------------------------------------------------------------------------------------------------------

  // Leading pending wins that may go to the gate.
  size_t confirmed() const { return unconfirmed().value_or(pending.size()); }

  // Small wins wait for company: a whole-model pair costs two starts of the model. A session with a budget ends with a gate anyway:
  // one before that may take a tenth of what is left.
  bool gate_is_due() const {
    if (options.seconds > 0 && gate_seconds > 0.1 * (options.seconds - spent())) return false;
    double sum = 0;
    for (size_t i = 0; i < confirmed(); ++i) sum += pending[i].predicted;
    return confirmed() > 0 && (sum > 0.05 || confirmed() >= 6) && spent() - last_gate_at > 3 * gate_seconds;
  }

  void run_gate() {
    const double start = lab.now();
    if (!gate) gate = std::make_unique<Gate>(lab, starter, options.gate());
    // The longest run of wins that the model confirms: all, else the first half of them, and so on down to one.
    size_t count = confirmed();
    while (count > 0) {
      status.rewrite = status.window = status.why = "";
      say(fmt::format("gate: {} of {} wins on the whole model", count, confirmed()));
      double predicted = 0;
      std::vector<int64_t> ids;
      for (size_t i = 0; i < count; ++i) {
        predicted += pending[i].predicted;
        ids.push_back(pending[i].experiment);
      }
      const int64_t after = pending[count - 1].plan;
      Random random = random_for(ledger_rows + 1, 0x6a7e);
      LedgerEntry entry = gate->judge(plans.at(gated_id).plan.get<Plan>(), plans.at(after).plan.get<Plan>(), predicted, random);
      entry.id = ledger_rows + 1;
      entry.experiments = ids;
      entry.plan_before = gated_id;
      entry.plan_after = after;
      Commit c;
      c.ledger = {entry};
      bool rolled_back = false;
      if (entry.kept) {
        PlanRecord record = plans.at(after);
        record.gated = true;
        c.plans = {record};
        gated_id = after;
        proven_log += entry.measured.log;
        pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(count));
        count = confirmed();
      } else if (count > 1) {
        count /= 2;
      } else {
        roll_back(entry, c);
        rolled_back = true;
        count = 0;
      }
      last_gate_at = spent();
      commit(c);
      observer.on_ledger(entry);
      if (rolled_back) measure_profile();
    }
    gate_seconds = since(start);
  }

  // The first pending win did not arrive in the model.
  void roll_back(const LedgerEntry& entry, Commit& c) {
    Experiment culprit = experiments.at(pending[0].experiment);
    culprit.stage = "gate";
    culprit.outcome = Outcome::kReverted;
    culprit.reason = "the whole model contradicts it: " + entry.reason;
    c.experiments.push_back(culprit);
    take_back(0, c);
  }

  // What a session ends with: every win confirmed, the confirmed ones through the gate. A win that waits for lack of time
  // stays pending; a resumed run goes on with it.
  void close() {
    while (const std::optional<size_t> i = unconfirmed())
      if (!confirm(*i)) break;
    if (confirmed() > 0) run_gate();
  }

  // ---- the loop --------------------------------------------------------------------------------------------------------

  TuneSummary run() {
    started = lab.now();
    TuneSummary summary;
    try {
      if (store.state().is_null()) begin();
      else load();
      for (;;) {
        status.rewrite = status.window = status.why = "";
        say("choosing");
        if (options.seconds > 0 && spent() + closing_seconds() >= options.seconds) {
          summary = {TuneEnd::kTimeUp, "time is up", {}};
        } else if (options.experiments > 0 && static_cast<int64_t>(experiments.size()) >= options.experiments) {
          summary = {TuneEnd::kExperimentsDone, "all experiments are done", {}};
        } else if (const std::optional<size_t> due = due_confirmation()) {
          confirm(*due);
          continue;
        } else if (gate_is_due()) {
          run_gate();
          continue;
        } else if (recall()) {
          continue;
        } else if (const std::optional<Choice> choice = choose()) {
          run_campaign(*choice);
          continue;
        } else if (!pending.empty()) {
          close();
          continue;  // a roll-back may leave something to try
        } else {
          summary = {TuneEnd::kConverged, "nothing that is left would gain what can be measured", {}};
        }
        close();
        break;
      }
    } catch (const Stopped&) {
      summary = {TuneEnd::kStopped, "stopped; everything is kept", {}};
      if (!plans.empty()) commit({});  // the seconds spent
    }
    if (unconfirmed()) summary.why += "; the newest win waits for its confirmation: resume";
    status.current_seconds = profile.seconds;
    status.proven_log_speedup = proven_log;
    status.seconds_spent = spent();
    status.experiments = static_cast<int64_t>(experiments.size());
    summary.status = status;
    return summary;
  }
};

namespace {

std::vector<const Rewrite*> allowed_of(const std::vector<const Rewrite*>& rewrites, const TuneOptions& options) {
  std::vector<const Rewrite*> allowed;
  for (const Rewrite* r : rewrites)
    if (options.allows(*r)) allowed.push_back(r);
  return allowed;
}

}  // namespace

Tuner::Tuner(const Graph& graph, SessionStore& store, Laboratory& laboratory, const std::vector<const Rewrite*>& rewrites,
             const TuneOptions& options, TuneObserver& observer, const std::atomic<bool>& stop, std::map<std::string, WisdomForm> known,
             const SearchPolicy& policy)
    : loop_(new Loop{graph, store, laboratory, allowed_of(rewrites, options), options, observer, stop, std::move(known), policy, {}, {}, 0, 0, 0,
                     0, {}, 0, 0, 0, {}, {}, {}, {}, {}, {}, {}, {}}) {}

Tuner::~Tuner() = default;

TuneSummary Tuner::run() { return loop_->run(); }

}  // namespace amdahl
