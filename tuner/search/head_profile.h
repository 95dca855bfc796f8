#pragma once
// Where the time of the head plan goes: measured in place, or carried over from the plan before it.

#include "profiler/profile.h"
#include "tuner/search/session_state.h"

namespace amdahl {

class HeadProfile {
 public:
  HeadProfile(const TuneContext& context, SessionState& state) : runner_(context.runner), state_(state) {}

  // As an earlier run left it; measured when there is none.
  void load();
  // Recorded.
  void measure();
  // After a win over `before`, the head until now: measured where that takes a tenth of the time since the last one, else carried over
  // (tuner/search/carried_profile.h) and not recorded. Two of four shapes of gpt2 were 71% of a session's first 1.7 minutes.
  void follow(const Plan& before, double log_gain);

  const Profile& get() const { return profile_; }
  double seconds() const { return profile_.seconds; }  // of a run of the model
  // Whether it is of this very plan, and not carried over.
  bool is_of_head() const { return plan_ == state_.head_id(); }
  // Another one after each change: what was derived from the profile before is void.
  int64_t revision() const { return revision_; }

 private:
  void build_head();

  TrialRunner& runner_;
  SessionState& state_;
  Profile profile_;
  int64_t plan_ = 0;        // that was measured last
  double measured_at_ = 0;  // in seconds spent
  int64_t revision_ = 0;
};

}  // namespace amdahl
