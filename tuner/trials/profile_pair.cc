#include "tuner/trials/profile_pair.h"

#include "base/statistics.h"

namespace amdahl {
namespace {

Profile median_of(const std::vector<Profile>& profiles) {
  Profile middle = profiles[0];
  const auto over_all = [&](auto seconds_of) {
    std::vector<double> seconds;
    for (const Profile& p : profiles) seconds.push_back(seconds_of(p));
    return median(seconds);
  };
  middle.seconds = over_all([](const Profile& p) { return p.seconds; });
  for (size_t s = 0; s < middle.steps.size(); ++s) {
    middle.steps[s].seconds = over_all([s](const Profile& p) { return p.steps[s].seconds; });
    middle.steps[s].floor.seconds = over_all([s](const Profile& p) { return p.steps[s].floor.seconds; });
  }
  return middle;
}

}  // namespace

ProfilePair profile_in_turns(TrialRunner& runner, const Plan& before, const Plan& after, int turns) {
  std::vector<Profile> first, second;
  for (int t = 0; t < turns; ++t) {
    first.push_back(runner.profile(before));
    second.push_back(runner.profile(after));
  }
  return {median_of(first), median_of(second)};
}

}  // namespace amdahl
