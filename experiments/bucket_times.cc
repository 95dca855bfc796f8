#include "experiments/bucket_times.h"

#include <algorithm>

#include "graph/models/buckets.h"
#include "plan/plan.h"

namespace amdahl {
namespace {

void add_profile(const SessionStore& store, const ProfileRecord& profile, const std::vector<Bucket>& buckets, double BucketTime::*seconds,
                 double BucketTime::*floor, std::vector<BucketTime>& times) {
  for (const PlanRecord& record : store.plans()) {
    if (record.id != profile.plan) continue;
    const Plan plan = record.plan.get<Plan>();
    for (size_t i = 0; i < plan.steps.size() && i < profile.step_seconds.size(); ++i) {
      BucketTime& time = times[bucket_of(buckets, plan.steps[i].outputs[0].value)];
      time.*seconds += profile.step_seconds[i];
      if (floor) time.*floor += profile.floor_seconds[i];
    }
  }
}

}  // namespace

std::vector<BucketTime> bucket_times(const SessionStore& store, const SessionIdentity& identity) {
  const std::vector<ProfileRecord> profiles = store.profiles();
  if (identity.buckets.empty() || profiles.empty()) return {};
  std::vector<BucketTime> times;
  for (const Bucket& b : identity.buckets) times.push_back({b.name, 0, 0, 0, 0});
  // The starter's newest, which was taken just before the kept plan's when the session ended.
  const auto starter = std::find_if(profiles.rbegin(), profiles.rend(), [&](const ProfileRecord& p) { return p.plan == profiles.front().plan; });
  add_profile(store, *starter, identity.buckets, &BucketTime::starter_seconds, nullptr, times);
  add_profile(store, profiles.back(), identity.buckets, &BucketTime::kept_seconds, &BucketTime::floor_seconds, times);
  std::stable_sort(times.begin(), times.end(), [](const BucketTime& a, const BucketTime& b) { return a.kept_seconds < b.kept_seconds; });
  for (size_t i = 0; i + 1 < times.size(); ++i)
    if (times[i].kept_seconds > 0) times[i].padded_ratio = times[i + 1].kept_seconds / times[i].kept_seconds;
  return times;
}

}  // namespace amdahl
