#include "tuner/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"

namespace amdahl {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A win that is applied but not yet confirmed end to end.
struct Pending {
  int64_t experiment = 0, plan = 0;
  double predicted = 0;  // log speedup of the model
};
void to_json(Json& j, const Pending& p) {
  j = Json{{"experiment", p.experiment}, {"plan", p.plan}, {"predicted", p.predicted}};
}
void from_json(const Json& j, Pending& p) {
  j.at("experiment").get_to(p.experiment);
  j.at("plan").get_to(p.plan);
  j.at("predicted").get_to(p.predicted);
}

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

void to_json(Json& j, const TuneOptions& o) {
  j = Json{{"seconds", o.seconds},
           {"experiments", o.experiments},
           {"seed", o.seed},
           {"threads", o.threads},
           {"burst", o.burst},
           {"rule",
            {{"delta", o.rule.delta},
             {"wealth", o.rule.wealth},
             {"max_pairs", o.rule.max_pairs},
             {"futility_pairs", o.rule.futility_pairs}}}};
}

void from_json(const Json& j, TuneOptions& o) {
  j.at("seconds").get_to(o.seconds);
  j.at("experiments").get_to(o.experiments);
  j.at("seed").get_to(o.seed);
  j.at("threads").get_to(o.threads);
  j.at("burst").get_to(o.burst);
  const Json& r = j.at("rule");
  r.at("delta").get_to(o.rule.delta);
  r.at("wealth").get_to(o.rule.wealth);
  r.at("max_pairs").get_to(o.rule.max_pairs);
  r.at("futility_pairs").get_to(o.rule.futility_pairs);
}

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
  Clock::time_point started = Clock::now();

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
    const auto start = Clock::now();
    profile = lab.profile(head);
    if (status.baseline_seconds == 0 && head_id == plans.begin()->first) status.baseline_seconds = profile.seconds;
    ProfileRecord record;
    record.id = profile_rows + 1;
    record.plan = head_id;
    record.model_seconds = profile.seconds;
    for (const StepProfile& s : profile.steps) {
      record.step_seconds.push_back(s.seconds);
      record.floor_seconds.push_back(s.floor.seconds);
    }
    Commit c;
    c.profiles = {record};
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

  // ---- one burst -------------------------------------------------------------------------------------------------------

  Random random_for(int64_t number, uint64_t salt) const {
    return Random(options.seed * 0x9e3779b97f4a7c15ull ^ static_cast<uint64_t>(number) * 0xd1342543de82ef95ull ^ salt);
  }
  int64_t next_id() const { return experiments.empty() ? 1 : experiments.rbegin()->first + 1; }

  std::optional<Choice> choose() {
    if (opportunities.empty()) opportunities = find_opportunities(graph, head, profile, rewrites, this_machine());
    Scheduler scheduler;
    for (const auto& [id, e] : experiments) scheduler.observe(e);
    for (const auto& [rewrite, sign] : exhausted) scheduler.exclude(rewrite, sign);
    Random random = random_for(next_id(), 0xc4005e);
    return scheduler.choose(opportunities, head, profile.seconds, random);
  }

  // Candidates that were only rolled back with another win may come again.
  static bool may_return(const Experiment& e) { return e.stage == "gate" && e.outcome == Outcome::kInconclusive; }

  Experiment start(const Opportunity& o, const Proposal& p, int64_t id) const {
    Experiment e;
    e.id = id;
    e.rewrite = o.rewrite->name();
    e.tier = o.rewrite->tier();
    e.signature = o.signature;
    e.window = o.describe(head);
    e.plan = head_id;
    e.steps = o.match.window.steps;
    e.occurrences = static_cast<int>(o.windows.size());
    e.candidate = p.id;
    e.replacement = p.steps;
    e.knobs = p.knobs;
    e.seed = random_for(id, 0).next() >> 1;
    e.share = o.seconds / std::max(profile.seconds, 1e-12);
    return e;
  }

  // A candidate that is taken up again keeps its number.
  int64_t id_for(const Opportunity& o, const Proposal& p) const {
    for (const auto& [id, e] : experiments)
      if (e.signature == o.signature && e.candidate == p.id && unproven(e)) return id;
    return next_id();
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

  // Won its race, but its proof never ended (another of its burst was faster, or the run was cut off).
  bool unproven(const Experiment& e) const {
    if (e.stage != "race" || e.outcome != Outcome::kInconclusive) return false;
    for (auto it = experiments.upper_bound(e.id); it != experiments.end(); ++it)
      if (it->second.signature == e.signature && it->second.outcome == Outcome::kKept &&
          e.challenger_seconds > it->second.challenger_seconds * (1 - options.rule.delta))
        return false;  // the incumbent has become faster than it
    return true;
  }

  std::vector<Proposal> proposals_for(const Opportunity& o, const std::vector<Step>& incumbent) {
    std::set<std::string> known{candidate_id(incumbent)};
    std::vector<Tried> tried;
    std::vector<Knobs> again;
    for (const auto& [id, e] : experiments) {
      if (e.signature != o.signature || may_return(e)) continue;
      if (e.rewrite == o.rewrite->name() && unproven(e)) again.push_back(e.knobs.get<Knobs>());
      else known.insert(e.candidate);
      if (e.rewrite == o.rewrite->name()) tried.push_back({e.knobs.get<Knobs>(), e.challenger_seconds});
    }
    int count = options.burst;
    if (options.experiments > 0)
      count = static_cast<int>(std::min<int64_t>(count, options.experiments - static_cast<int64_t>(experiments.size())));
    Random random = random_for(next_id(), 0x5ea7c4);
    return propose(o.match, this_machine(), tried, known, again, count, random);
  }

  // Builds, screens and races some candidates of one opportunity; the best goes on to the proof.
  void burst(const Choice& choice) {
    const Opportunity o = opportunities[choice.opportunity];
    const auto key = std::make_pair(std::string(o.rewrite->name()), o.signature);
    status.rewrite = key.first;
    status.why = choice.why;
    WindowTask task;
    task.signature = o.signature;
    task.io = io_of(graph, head, o.match.window);
    task.threads = head.threads;
    for (int s : o.match.window.steps) task.incumbent.push_back(head.steps[static_cast<size_t>(s)]);
    const std::vector<Proposal> proposals = proposals_for(o, task.incumbent);
    if (proposals.empty()) {
      exhausted.insert(key);
      return;
    }
    say(fmt::format("building {} candidates", proposals.size()));
    std::vector<std::vector<Step>> to_build{task.incumbent};
    for (const Proposal& p : proposals) to_build.push_back(p.steps);
    const auto build_start = Clock::now();
    const std::vector<Built> built = lab.build(to_build);
    const double build_seconds = since(build_start) / static_cast<double>(proposals.size());
    if (built[0].ok) codes[o.signature].try_emplace(built[0].code, 0);

    say("validating and racing");
    const std::string unusable = lab.enter(task);
    if (!unusable.empty()) {
      exhausted.insert(key);
      observer.on_note(fmt::format("{} on {} is left alone: {}", key.first, o.describe(head), unusable));
      return;
    }
    int best = -1;
    Experiment best_experiment;
    for (size_t i = 0; i < proposals.size() && !out_of_time(); ++i) {
      check_stop();
      Experiment e = start(o, proposals[i], id_for(o, proposals[i]));
      e.seconds.build = build_seconds;
      if (!screen(e, proposals[i], built[i + 1])) continue;
      if (best >= 0 && e.race_log_ratio <= best_experiment.race_log_ratio) continue;
      best = static_cast<int>(i);
      best_experiment = e;
    }
    if (best < 0) return;
    const Proposal& p = proposals[static_cast<size_t>(best)];
    if (prove(best_experiment, p, built[static_cast<size_t>(best) + 1])) apply(best_experiment, o, p);
  }

  // True when the candidate won its race. Always records it.
  bool screen(Experiment& e, const Proposal& p, const Built& built) {
    if (!built.ok) {
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
    const Screened s = lab.screen(p.steps, built);
    e.seconds.validate = s.validate_seconds;
    e.seconds.race = s.race_seconds;
    if (s.failure) {
      e.seed = s.failure->seed;
      end(e, s.failure->outcome, s.failure->stage, s.failure->reason);
      return false;
    }
    e.incumbent_seconds = s.race.seconds_a;
    e.challenger_seconds = s.race.seconds_b;
    e.race_log_ratio = s.race.log_ratio;
    const bool won = s.race.log_ratio > options.rule.delta;
    end(e, won ? Outcome::kInconclusive : Outcome::kReverted, "race",
        fmt::format("{:+.1f}% in the race{}", 100 * std::expm1(s.race.log_ratio),
                    won ? ", another candidate of the burst was faster" : ""));
    return won;
  }

  enum class Proof { kPassed, kFailed, kBroken };  // broken: recorded already, or no time left

  // One stage of evidence on fresh pairs.
  Proof gather(Experiment& e, const Proposal& p, const Built& built, uint64_t salt, std::vector<double>* ratios,
               std::vector<double>* a, std::vector<double>* b) {
    Random random = random_for(e.id, salt);
    SignTest test(options.rule);
    int dropped = 0;
    while (test.verdict() == SignTest::Verdict::kOpen) {
      check_stop();
      if (out_of_time()) return Proof::kBroken;  // stays unproven: a resumed run may go on
      const Paired paired = lab.pair(p.steps, built, random);
      if (paired.failure) {
        e.seed = paired.failure->seed;
        end(e, paired.failure->outcome, paired.failure->stage, paired.failure->reason);
        return Proof::kBroken;
      }
      // A machine that is never quiet must not keep us for ever: then pairs are taken as they come.
      if (!paired.pair.dropped.empty() && dropped < 4 + test.pairs()) {
        ++dropped;
        continue;
      }
      ratios->push_back(paired.pair.timing.log_ratio);
      a->push_back(paired.pair.timing.seconds_a);
      b->push_back(paired.pair.timing.seconds_b);
      test.add(paired.pair.timing.log_ratio);
    }
    e.pairs_dropped += dropped;
    return test.verdict() == SignTest::Verdict::kPassed ? Proof::kPassed : Proof::kFailed;
  }

  bool prove(Experiment& e, const Proposal& p, const Built& built) {
    struct Stage {
      const char* name;
      uint64_t salt;
      std::vector<double>* ratios;
      double* seconds;
    };
    for (const Stage& stage : {Stage{"prove", 0x9407e, &e.prove_log_ratios, &e.seconds.prove},
                               Stage{"confirm", 0xc0f1f, &e.confirm_log_ratios, &e.seconds.confirm}}) {
      say(stage.name == std::string("prove") ? "proving in fresh processes" : "confirming on fresh pairs");
      const auto start = Clock::now();
      std::vector<double> a, b;
      const Proof proof = gather(e, p, built, stage.salt, stage.ratios, &a, &b);
      *stage.seconds = since(start);
      if (proof == Proof::kBroken) return false;
      e.incumbent_seconds = median(a);
      e.challenger_seconds = median(b);
      if (proof == Proof::kPassed) continue;
      const double m = median(*stage.ratios);
      end(e, m > 0 ? Outcome::kInconclusive : Outcome::kReverted, stage.name,
          fmt::format("{:+.1f}% in the median of {} pairs, not proven", 100 * std::expm1(m), stage.ratios->size()));
      return false;
    }
    e.gain = estimate(e.confirm_log_ratios);
    return true;
  }

  // ---- keep ------------------------------------------------------------------------------------------------------------

  void apply(Experiment& e, const Opportunity& o, const Proposal& p) {
    int applied = 0;
    const Plan next = apply_everywhere(graph, head, o.windows, p.steps, &applied);
    if (applied == 0) {
      end(e, Outcome::kMistrusted, "confirm", "the replacement does not fit into the plan");
      return;
    }
    e.occurrences = applied;
    const double seconds = o.seconds * applied / static_cast<double>(o.windows.size());
    const double share = std::min(0.999, seconds / std::max(profile.seconds, 1e-12));
    const double predicted = -std::log(1 - share * (1 - std::exp(-e.gain.log)));
    PlanRecord record;
    record.id = plans.rbegin()->first + 1;
    record.parent = head_id;
    record.experiment = e.id;
    record.plan = next;
    e.outcome = Outcome::kKept;
    e.stage = "confirm";
    e.reason = fmt::format("{:+.1f}% [{:+.1f}, {:+.1f}] at {} places, {:+.2f}% of the model predicted",
                           100 * std::expm1(e.gain.log), 100 * std::expm1(e.gain.lo), 100 * std::expm1(e.gain.hi), applied,
                           100 * std::expm1(predicted));
    head = next;
    head_id = record.id;
    pending.push_back({e.id, record.id, predicted});
    Commit c;
    c.experiments = {e};
    c.plans = {record};
    commit(c);
    observer.on_experiment(e);
    say("profiling again");
    measure_profile();
  }

  // ---- gate ------------------------------------------------------------------------------------------------------------

  double pending_log() const {
    double sum = 0;
    for (const Pending& p : pending) sum += p.predicted;
    return sum;
  }

  // Small wins wait for company: a whole-model pair costs two starts of the model.
  bool gate_is_due() const {
    return !pending.empty() && (pending_log() > 0.05 || pending.size() >= 6) && spent() - last_gate_at > 3 * gate_seconds;
  }

  void run_gate() {
    const auto start = Clock::now();
    if (!gate) gate = std::make_unique<Gate>(lab, starter);
    // The longest run of wins that the model confirms: all, else the first half of them, and so on down to one.
    size_t count = pending.size();
    while (!pending.empty()) {
      say(fmt::format("gate: {} of {} wins on the whole model", count, pending.size()));
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
        count = pending.size();
      } else if (count > 1) {
        count /= 2;
      } else {
        roll_back(entry, c);
        rolled_back = true;
      }
      last_gate_at = spent();
      commit(c);
      observer.on_ledger(entry);
      if (rolled_back) measure_profile();
    }
    gate_seconds = since(start);
  }

  // The first pending win did not arrive in the model. What was built on top of it goes too, and may be found again.
  void roll_back(const LedgerEntry& entry, Commit& c) {
    const int64_t culprit = pending[0].experiment;
    for (const Pending& p : pending) {
      Experiment e = experiments.at(p.experiment);
      e.stage = "gate";
      e.outcome = p.experiment == culprit ? Outcome::kReverted : Outcome::kInconclusive;
      e.reason = p.experiment == culprit ? "the whole model contradicts it: " + entry.reason
                                         : fmt::format("rolled back with experiment {}", culprit);
      c.experiments.push_back(e);
      PlanRecord record = plans.at(p.plan);
      record.rolled_back = true;
      c.plans.push_back(record);
    }
    pending.clear();
    head_id = gated_id;
    head = plans.at(head_id).plan.get<Plan>();
    codes.clear();
  }

  // ---- the loop --------------------------------------------------------------------------------------------------------

  TuneSummary run() {
    started = Clock::now();
    TuneSummary summary;
    try {
      if (store.state().is_null()) begin();
      else load();
      for (;;) {
        say("choosing");
        const double reserve = pending.empty() ? 0 : gate_seconds;
        if (options.seconds > 0 && spent() + reserve >= options.seconds) {
          summary = {TuneEnd::kTimeUp, "time is up", {}};
        } else if (options.experiments > 0 && static_cast<int64_t>(experiments.size()) >= options.experiments) {
          summary = {TuneEnd::kExperimentsDone, "all experiments are done", {}};
        } else if (const std::optional<Choice> choice = choose()) {
          burst(*choice);
          if (gate_is_due()) run_gate();
          continue;
        } else if (!pending.empty()) {
          run_gate();
          continue;  // a roll-back may leave something to try
        } else {
          summary = {TuneEnd::kConverged, "nothing that is left would gain what can be measured", {}};
        }
        if (!pending.empty()) run_gate();
        break;
      }
    } catch (const Stopped&) {
      summary = {TuneEnd::kStopped, "stopped; everything is kept", {}};
      if (!plans.empty()) commit({});  // the seconds spent
    }
    status.current_seconds = profile.seconds;
    status.proven_log_speedup = proven_log;
    status.seconds_spent = spent();
    status.experiments = static_cast<int64_t>(experiments.size());
    summary.status = status;
    return summary;
  }
};

Tuner::Tuner(const Graph& graph, SessionStore& store, Laboratory& laboratory, const std::vector<const Rewrite*>& rewrites,
             const TuneOptions& options, TuneObserver& observer, const std::atomic<bool>& stop)
    : loop_(new Loop{graph, store, laboratory, rewrites, options, observer, stop, {}, {}, 0, 0, 0, 0, {}, 0, 0, 0, {}, {}, {},
                     {}, {}, {}, {}, {}}) {}

Tuner::~Tuner() = default;

TuneSummary Tuner::run() { return loop_->run(); }

}  // namespace amdahl
