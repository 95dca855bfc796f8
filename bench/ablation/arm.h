#pragma once
// One arm of the ablation: the loop with something taken away, and what a session of it came to.

#include <string>
#include <vector>

#include "cli/commands.h"
#include "graph/graph.h"
#include "playbook/rewrite.h"
#include "starter_kernels/kinds/problem.h"
#include "tuner/search/search_policy.h"

namespace amdahl::ablation {

struct Arm {
  std::string name;  // "without tier 3"
  std::vector<const Rewrite*> rewrites;
  const SearchPolicy* policy = nullptr;
};

// "without-tier-3": the stem of an arm's files.
std::string stem_of(const Arm& arm);

// The whole loop first, then without each tier, then with other policies.
std::vector<Arm> arms();

struct Budget {
  double minutes = 10;
  std::vector<double> at{2, 5, 10};  // minutes after which the plan of then is measured
  int pairs = 6;                     // of fresh processes, for each
  uint64_t seed = 1;
};

// Tunes for the budget with a kernel cache that is empty at the start, then measures the plans of `at` against the starter
// plan. Everything that the table needs, as JSON; the session stays in FOLDER/ARM.amdahl. Throws Error, Stopped.
Json run_arm(const Arm& arm, const std::string& model, const Graph& graph, const Budget& budget, const std::string& folder, const GlobalOptions& global);

// A Markdown table of such results.
std::string table_of(const std::vector<Json>& results);

}  // namespace amdahl::ablation
