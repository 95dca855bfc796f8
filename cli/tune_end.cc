#include "cli/tune_end.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/shell_word.h"
#include "base/time_text.h"
#include "cli/open_session.h"
#include "experiments/bucket_times.h"
#include "experiments/comparison_text.h"
#include "experiments/report.h"
#include "experiments/standing.h"
#include "export/exporter.h"
#include "tuner/search/finish.h"

namespace amdahl {
namespace {

void print_headline(const Session& session, bool any_kept, TuneEnd end) {
  const auto h = session.headline();
  if (!h || h->gain.pairs == 0)
    return fmt::print("won      {}\n", any_kept ? fmt::format("not measured: {} before starter and kept plan could be compared (verify does it)",
                                                              end == TuneEnd::kStopped ? "stopped" : "time was up")
                                                : "nothing is confirmed on the whole model yet");
  const bool level = standing_of(h->gain) == Standing::kLevel;
  fmt::print("{:<8} {}, {} -> {} a run\n         {}, in {} of fresh processes\n", level ? "level" : "won", interval_text(h->gain),
             time_text(h->starter_seconds), time_text(h->kept_seconds), level ? "no difference from the starter plan is shown" : "over the starter plan",
             counted(h->gain.pairs, "pair"));
}

// The best of other runtimes, also where it is ahead.
void print_baseline(const Session& session) {
  const std::optional<Baseline> baseline = best_baseline(shown_comparison(session));
  if (!baseline) return;
  const std::string age = age_text(*baseline, session);
  fmt::print("beside   {}\n         {}\n{}", standing_text(*baseline), conditions_text(*baseline), age.empty() ? "" : "         " + age + "\n");
}

int64_t kept_by_gates(const Session& session) {
  int64_t kept = 0;
  for (const LedgerEntry& e : session.ledger()) kept += e.kept ? static_cast<int64_t>(e.experiments.size()) : 0;
  return kept;
}

// Of the newest kept plan: what the permission to round has cost.
void print_error(const Session& session, const TuneOptions& options) {
  double error = 0;
  for (const LedgerEntry& e : session.ledger())
    if (e.kept) error = e.error;
  if (error > 0)
    fmt::print("error    {:.2g} from float64 (relative norm of the outputs), {:.2g} is allowed:\n         products may be in bfloat16\n", error,
               options.max_error);
}

void print_left(const Session& session) {
  const std::vector<StepGroup> left = left_to_win(session);
  if (left.empty() || left[0].seconds <= left[0].floor_seconds) return;
  fmt::print("left     most, {} above its roofline, in\n         {} {} x{}\n", time_text(left[0].seconds - left[0].floor_seconds), left[0].kind, left[0].shapes,
             left[0].count);
}

// The plan that is kept was not measured beside other runtimes yet. Those that we know run on processors.
bool wants_comparison(const Session& session) {
  const std::optional<Baseline> baseline = best_baseline(shown_comparison(session));
  return session.state().is_object() && backend_of(session).workers().candidates_run_on_host() && (!baseline || !age_text(*baseline, session).empty());
}

void print_next(const Session& session, const std::string& path, TuneEnd end) {
  const std::string file = shell_word(path);
  std::vector<std::string> next{"report " + file};
  if (wants_comparison(session)) next.push_back("compare " + file);
  if (session.headline() || any_kept(session))
    next.insert(next.end(), {"verify " + file, fmt::format("export {} --format {} -o DIR", file, export_format_for(session.identity().backend).name)});
  if (end != TuneEnd::kConverged) next.push_back("resume " + file);
  for (const std::string& command : next) fmt::print("{}amdahl {}\n", &command == &next.front() ? "next     " : "         ", command);
}

}  // namespace

void print_end(const Session& session, const std::string& path, const TuneSummary& summary, const TuneOptions& options, int learnt) {
  fmt::print("{}: {}\n", short_name(session.identity().model), summary.why);
  print_headline(session, any_kept(session), summary.end);
  print_baseline(session);
  const int64_t kept = kept_by_gates(session);
  fmt::print("proven   {} of {} kept,\n         each by two tests on fresh processes and by the whole model\n", kept,
             counted(summary.status.experiments, "experiment"));
  if (const int64_t waiting = summary.status.kept - kept; waiting > 0)
    fmt::print("waiting  {} proven in fresh processes, for the whole model\n", counted(waiting, "win"));
  if (options.allow_bf16) print_error(session, options);
  for (const BucketTime& t : bucket_times(session, session.identity()))
    fmt::print("shape    {}: {} -> {}, {:.2f}x (sums of steps in place)\n", t.name, time_text(t.starter_seconds), time_text(t.kept_seconds),
               t.starter_seconds / t.kept_seconds);
  print_left(session);
  if (learnt > 0) fmt::print("learnt   {} for other sessions (amdahl wisdom list)\n", counted(learnt, "form"));
  print_next(session, path, summary.end);
}

}  // namespace amdahl
