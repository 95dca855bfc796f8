#pragma once
// What a session may still spend, and what its end will take of that: confirmations, a gate, the headline.

#include "tuner/search/session_state.h"

namespace amdahl {

class SessionBudget {
 public:
  SessionBudget(const TuneContext& context, const SessionState& state) : graph_(context.graph), options_(context.options), state_(state) {}

  bool out_of_time() const { return has_limit() && state_.spent() > options_.seconds; }
  bool out_of_experiments() const;
  bool is_spent() const { return out_of_time() || out_of_experiments(); }
  // The search is over: what is left is needed to end the session.
  bool time_is_up() const { return has_limit() && state_.spent() + closing_seconds() >= options_.seconds; }
  double seconds_left(double without_limit) const;
  int64_t experiments_left(int64_t without_limit) const;

  // Whether work of so many seconds can come before the end.
  bool has_time_for(double seconds) const;
  // A win without its proof is worth nothing: whether time for both stages has to be set aside now, where a run of the window takes `run_seconds`.
  bool must_prove_now(double run_seconds) const;
  // Whether what closes the session may take so long: it may run over, up to `latest` (in seconds spent).
  bool fits(double seconds, double latest) const { return !has_limit() || state_.spent() + seconds <= latest; }
  bool fits(double seconds) const { return fits(seconds, latest_end()); }

  // What it takes to end the session: confirmations that are due by then, a gate, and the headline that the caller measures.
  // `one_more`: with a win that comes to its proof now.
  double closing_seconds(bool one_more = false) const;
  double headline_seconds() const;
  // The last confirmations and the last gate of a session may run over, but not for ever, and never so far that what is won already loses
  // its gate or its headline to them: what they leave undecided stays pending. In seconds spent.
  double latest_confirmation() const;
  double latest_gate() const;

 private:
  bool has_limit() const { return options_.seconds > 0; }
  // What closes a session may run over by half of what the user is promised; the other half is for what takes longer than it did before.
  double latest_end() const { return options_.seconds + 0.5 * overrun_allowed(options_.seconds); }
  double fewest_headline_seconds() const;

  const Graph& graph_;
  const TuneOptions& options_;
  const SessionState& state_;
};

}  // namespace amdahl
