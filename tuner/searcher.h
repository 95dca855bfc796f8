#pragma once
// Proposes knob values for one rewrite of one window: the first form, neighbours of the best so far, and random jumps.
// Keeps no state: what was tried and how it went comes from the session's experiments, so a resumed search goes on.

#include <set>
#include <string>
#include <vector>

#include "base/machine.h"
#include "base/random.h"
#include "experiments/experiment.h"
#include "playbook/rewrite.h"

namespace amdahl {

struct Proposal {
  std::vector<Step> steps;
  Knobs knobs;            // of the open knobs; named NAME, or NAME@step when the replacement has several steps
  std::string id;         // candidate identity: equal for equal variants
};

// What earlier candidates of the same rewrite and signature came to.
struct Tried {
  Knobs knobs;
  double seconds = 0;     // of the challenger in its race; 0 when it never ran
};

// Identity of a replacement: its variants, in order, wherever in the model they stand.
std::string candidate_id(const std::vector<Step>& steps);

// At most `count` proposals whose id is not in `known`. Fewer, down to none, when the space runs out. `again` are proposed
// before all others.
std::vector<Proposal> propose(const Match& match, const MachineInfo& machine, const std::vector<Tried>& tried,
                              const std::set<std::string>& known, const std::vector<Knobs>& again, int count,
                              Random& random);

}  // namespace amdahl
