#pragma once
// What the playbook offers on a plan: every rewrite at every place it matches, equal windows taken together.

#include <set>
#include <string>
#include <vector>

#include "playbook/rewrite.h"
#include "profiler/profile.h"

namespace amdahl {

struct Opportunity {
  const Rewrite* rewrite = nullptr;
  std::string signature;
  Match match;                  // at the first place
  std::vector<Window> windows;  // all places, the first first
  double seconds = 0;           // of the model, in all places
  // What a second of it counts for where it is chosen what to try. In a graph of several shapes (graph/models/buckets.h) the same share of any
  // shape counts alike: the sum would have the longest one tuned to its end before the shortest is touched.
  double weight = 1;
  double winnable_seconds = 0;                   // above what its roofline allows; a structural rewrite may lower the roofline itself
  std::string describe(const Plan& plan) const;  // "matmul [128, 768] + pointwise [128, 768]"; long ones shortened
};

std::vector<Opportunity> find_opportunities(const Graph& graph, const Plan& plan, const Profile& profile, const std::vector<const Rewrite*>& rewrites,
                                            const Target& target);

// The plan with `replacement` (made for windows[0]) in all windows. Places that overlap one already replaced are left out;
// *applied says how many were not.
Plan apply_everywhere(const Graph& graph, const Plan& plan, const std::vector<Window>& windows, const std::vector<Step>& replacement, int* applied);

}  // namespace amdahl
