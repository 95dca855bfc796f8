#include "tuner/search/finish.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/entropy.h"
#include "experiments/standing.h"
#include "tuner/search/headline.h"
#include "tuner/search/profile_record.h"
#include "tuner/search/revert_newest_keep.h"
#include "tuner/trials/profile_pair.h"

namespace amdahl {
namespace {

class Finish {
 public:
  Finish(const TuneContext& c, const TuneSummary& run)
      : graph_(c.graph),
        store_(c.store),
        runner_(c.runner),
        options_(c.options),
        observer_(c.observer),
        run_(run),
        starter_(plan_at_start(store_)),
        begun_(runner_.now()) {}

  void run() {
    HeadlineOptions options = headline_options();
    while (any_kept(store_)) {
      say("measuring starter against kept plan");
      options.plan = store_.state().at("gated").get<int64_t>();
      options.seed = entropy();
      const Headline measured = measure_headline(runner_, starter_, gated_plan(store_), options);
      const bool enough = measured.gain.pairs >= kFewestHeadlinePairs;
      if (!enough || measured.gain.hi >= 0) return commit(measured, enough, options.must_stop());
      observer_.on_note(fmt::format("the kept plan is slower than the starter, {}: its newest step is taken back", interval_text(measured.gain)));
      revert_newest_keep(store_, measured.gain);
    }
  }

 private:
  double taken() const { return runner_.now() - begun_; }
  double spent() const { return run_.status.seconds_spent + taken(); }

  HeadlineOptions headline_options() const {
    const double budget = options_.seconds;
    HeadlineOptions o;
    o.inputs = headline_inputs(graph_);
    o.out_of_time = [this, budget] { return budget > 0 && spent() > budget; };
    o.must_stop = [this, budget] { return budget > 0 && spent() > latest_headline(budget); };
    o.time_for_another = [this, budget](double seconds) { return run_.end == TuneEnd::kTimeUp && graph_.buckets.empty() && spent() + seconds <= budget; };
    o.made_again_seconds = PairsMadeAgain::seconds_of(budget);
    return o;
  }

  void commit(const Headline& measured, bool enough, bool must_stop) {
    Commit c;
    if (enough) c.headline = measured;
    if (enough && !graph_.buckets.empty() && !must_stop) c.profiles = closing_profiles(measured.plan);
    Json state = store_.state();
    state["seconds"] = state.at("seconds").get<double>() + taken();  // with the headlines that took steps back
    state["phases"]["headline"] = state["phases"].value("headline", 0.0) + taken();
    c.state = state;
    store_.commit(c);
  }

  // Of the starter and the kept plan, the latter last. What single shapes take is compared: a profile from the session's start would
  // compare the machine of then with that of now.
  std::vector<ProfileRecord> closing_profiles(int64_t kept_id) {
    const std::vector<ProfileRecord> profiles = store_.profiles();
    const int64_t id = profiles.back().id;
    const ProfilePair pair = profile_in_turns(runner_, starter_, gated_plan(store_), kHeadlineTurns);
    return {profile_record(pair.before, id + 1, profiles.front().plan), profile_record(pair.after, id + 2, kept_id)};
  }

  void say(const std::string& phase) {
    TuneStatus status = run_.status;
    status.rewrite = status.window = status.why = "";
    status.phase = phase;
    status.seconds_spent = spent();
    observer_.on_status(status);
  }

  const Graph& graph_;
  SessionStore& store_;
  TrialRunner& runner_;
  const TuneOptions& options_;
  TuneObserver& observer_;
  const TuneSummary& run_;
  const Plan starter_;
  const double begun_;
};

}  // namespace

bool any_kept(const SessionStore& store) {
  const std::vector<LedgerEntry> ledger = store.ledger();
  return std::any_of(ledger.begin(), ledger.end(), [](const LedgerEntry& e) { return e.kept; });
}

void finish_session(const TuneContext& context, const TuneSummary& run) { Finish(context, run).run(); }

}  // namespace amdahl
