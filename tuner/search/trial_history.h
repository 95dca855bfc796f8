#pragma once
// Questions about what a session has tried already.

#include <set>
#include <string>
#include <vector>

#include "tuner/search/campaign.h"
#include "tuner/search/searcher.h"
#include "tuner/search/session_state.h"

namespace amdahl {

bool was_tried(const SessionState& state, const Opportunity& o, const std::string& candidate);
// Candidates that are not proposed again for a window.
std::set<std::string> tried_on(const SessionState& state, const std::string& signature);
// The fastest form that won its race against this incumbent and never came to its proof, or lost its place through no
// fault of its own; none when a form at least as fast went to a proof.
std::vector<Proposal> unproven_form(const Graph& graph, const SessionState& state, const Campaign& campaign);
// What an experiment put in the place of its window, for a window of the head that is equal to it.
Proposal as_tried(const Graph& graph, const SessionState& state, const Experiment& e, const Window& window);
// The last experiment with this candidate that may be taken up again: it keeps its number.
const Experiment* taken_up_again(const SessionState& state, const std::string& signature, const std::string& candidate);

}  // namespace amdahl
