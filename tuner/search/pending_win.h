#pragma once
// A win that is applied but has not passed the gate: proven, then confirmed on fresh pairs later. Each was found on top of the one before.

#include <cstdint>

#include "experiments/experiment.h"

namespace amdahl {

struct PendingWin {
  int64_t experiment = 0, plan = 0;
  double predicted = 0;                  // log speedup of the model
  double share = 1;                      // of the model's time that all its places had
  double proven_at = 0, confirm_at = 0;  // in seconds spent
  bool confirmed = false;
};
void to_json(Json& j, const PendingWin& p);
void from_json(const Json& j, PendingWin& p);

}  // namespace amdahl
