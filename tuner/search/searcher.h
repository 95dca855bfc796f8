#pragma once
// Proposes knob values for one rewrite of one window: the first form and the others that it names, each of its switches the other way, its neighbours, and random jumps. Keeps no state:
// what is known already comes from the session's experiments, so a resumed search goes on.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "experiments/experiment.h"
#include "playbook/rewrite.h"

namespace amdahl {

struct Proposal {
  std::vector<Step> steps;
  Knobs knobs;     // of the open knobs; named NAME, or NAME@step when the replacement has several steps
  std::string id;  // candidate identity: equal for equal variants
};

// Identity of a replacement: its variants, in order, wherever in the model they stand.
std::string candidate_id(const std::vector<Step>& steps);

// The form of the whole window when the match's steps are replaced by these (tuner/search/draft.h).
using FormOf = std::function<std::vector<Step>(const std::vector<Step>&)>;

// At most `count` proposals whose id is not in `known`. Fewer, down to none, when the space runs out.
std::vector<Proposal> propose(const Match& match, const FormOf& form_of, const Target& target, const std::set<std::string>& known, int count, Random& random);

}  // namespace amdahl
