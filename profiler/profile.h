#pragma once
// Where the time of a plan goes, and what could be won back: every step against its own roofline, equal windows taken
// together, ranked by the milliseconds between what they take and what this machine allows (Amdahl's law).
//
// The floor of a step is the larger of two times: its operations at the fp32 peak, and its bytes at the bandwidth of the
// level they come from, both at the plan's thread count; on a card no less than a call takes that does nothing. Which level:
//  - weights come from the smallest level that holds everything one run touches (all weights and the largest step's
//    activations): by the time a weight is used again, the rest of the model has passed through;
//  - activations come from the smallest level that holds the step's own bytes: they were written just before.
// A step that runs below its floor (the level was guessed too far out) has nothing to win, never a negative amount.

#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiler/ceilings.h"

namespace amdahl {

enum class Bound { kCompute, kL1, kL2, kL3, kDram, kCall };
std::string_view name_of(Bound bound);  // "compute", "L1", …, "call"

struct StepCost {
  double flops = 0;
  double weight_bytes = 0, activation_bytes = 0;
  Factors factors = Factors::kFloats;
};
struct Floor {
  double seconds = 0;
  Bound bound = Bound::kCompute;
};
// What one run of the model touches: weights once each (tied weights are one), and the largest step's activations.
double bytes_of_run(const Graph& graph, const Plan& plan);
// `run_bytes`: of bytes_of_run().
Floor floor_of(const StepCost& cost, double run_bytes, int threads, const Ceilings& ceilings);

struct StepProfile {
  int step = 0;
  std::string kind;
  std::string computes;  // "MatMul [1, 128, 768] x [768, 3072]", for people
  std::vector<NodeId> nodes;
  std::string signature;
  double seconds = 0;  // in place, median over the runs
  double spread = 0;   // robust sd over the runs, relative
  StepCost cost;
  Floor floor;

  double bytes() const { return cost.weight_bytes + cost.activation_bytes; }
  double intensity() const { return bytes() > 0 ? cost.flops / bytes() : 0; }  // operations a byte
};

// Steps of equal signature: a win for one is a win for all.
struct GroupProfile {
  std::vector<int> steps;                 // of the plan
  double seconds = 0, floor_seconds = 0;  // all of them together
  double share = 0;                       // of the model
  double winnable_seconds = 0;
  double speedup_if_won = 1;  // of the whole model, if this group ran at its floor
};

struct Profile {
  int threads = 1;
  int runs = 0;
  double seconds = 0;  // a run: median of the runs' sums
  double spread = 0;
  double floor_seconds = 0;           // all steps at their floors
  double busy = 0;                    // share of the time meanwhile that others had the processors (processor_load.h)
  double memory_gbs = 0;              // what memory feeds this many threads at best, 1e9 bytes a second; 0: not known
  std::vector<StepProfile> steps;     // in plan order
  std::vector<GroupProfile> ranking;  // most winnable first

  double flops() const;
};

// The arithmetic alone: groups by signature, ranks. Fills `ranking` and `floor_seconds` from `steps` and `seconds`.
void rank(Profile& profile);

// Floors at the speed that the machine had while the profile was taken: `speed` is the share of its ceilings that it gave (ceilings.h).
// Without this, steps at their limit look far above it whenever a neighbour is busy, and hide those that are not. A speed below what a
// step of the profile itself reached is not believed.
void slow_floors(Profile& profile, double speed);

// samples[run][step]: seconds of every step of `plan` in every timed run of the whole model; at least one run.
Profile make_profile(const Graph& graph, const Plan& plan, const std::vector<std::vector<double>>& samples, const Ceilings& ceilings);

}  // namespace amdahl
