#pragma once
// What a session keeps of a profile.

#include "experiments/experiment.h"
#include "profiler/profile.h"

namespace amdahl {

inline ProfileRecord profile_record(const Profile& profile, int64_t id, int64_t plan) {
  ProfileRecord record;
  record.id = id;
  record.plan = plan;
  record.model_seconds = profile.seconds;
  for (const StepProfile& s : profile.steps) {
    record.step_seconds.push_back(s.seconds);
    record.floor_seconds.push_back(s.floor.seconds);
  }
  return record;
}

}  // namespace amdahl
