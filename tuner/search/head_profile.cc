#include "tuner/search/head_profile.h"

#include "tuner/search/carried_profile.h"
#include "tuner/search/profile_record.h"

namespace amdahl {

void HeadProfile::load() {
  const std::optional<ProfileRecord> newest = state_.newest_profile_of_head();
  if (!newest) return measure();
  profile_ = profile_of(*newest);
  plan_ = state_.head_id();
  ++revision_;
}

// Compilers first: what is timed after them says how long a gate will take, and that one finds everything built.
void HeadProfile::build_head() {
  std::vector<std::vector<Step>> kernels;
  for (const Step& s : state_.head().steps) kernels.push_back({s});
  const double start = runner_.now();
  runner_.build(kernels);
  state_.spend("build", state_.since(start));
}

void HeadProfile::measure() {
  build_head();
  const double start = runner_.now();
  profile_ = runner_.profile(state_.head());
  const double seconds = state_.since(start);
  plan_ = state_.head_id();
  measured_at_ = state_.spent();
  ++revision_;
  state_.add_profile(profile_, seconds);
  // A pair starts two such processes, for fewer runs each.
  state_.guess_model_pair(1.5 * state_.since(start));
}

void HeadProfile::follow(const Plan& before, double log_gain) {
  if (state_.spent() - measured_at_ >= 10 * state_.costs().profile) return measure();
  profile_ = carried_profile(before, profile_, state_.head(), log_gain);
  ++revision_;
}

}  // namespace amdahl
