#pragma once
// What a session keeps of a profile, and back.

#include "experiments/experiment.h"
#include "profiler/profile.h"

namespace amdahl {

inline ProfileRecord profile_record(const Profile& profile, int64_t id, int64_t plan) {
  ProfileRecord record;
  record.id = id;
  record.plan = plan;
  record.model_seconds = profile.seconds;
  record.memory_gbs = profile.memory_gbs;
  for (const StepProfile& s : profile.steps) {
    record.step_seconds.push_back(s.seconds);
    record.floor_seconds.push_back(s.floor.seconds);
  }
  return record;
}

// With what the loop needs of it.
inline Profile profile_of(const ProfileRecord& record) {
  Profile p;
  p.seconds = record.model_seconds;
  p.memory_gbs = record.memory_gbs;
  p.steps.resize(record.step_seconds.size());
  for (size_t i = 0; i < p.steps.size(); ++i) {
    p.steps[i].step = static_cast<int>(i);
    p.steps[i].seconds = record.step_seconds[i];
    p.steps[i].floor.seconds = record.floor_seconds[i];
  }
  return p;
}

}  // namespace amdahl
