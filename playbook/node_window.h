#pragma once
// Rewrites that recognise a pattern of graph nodes do not care how earlier rewrites grouped them into steps; the window is
// put together here.

#include <set>
#include <string>

#include "playbook/rewrite.h"

namespace amdahl {

// The window of all steps that compute `core` (with `absorbed` movement), replaced by `fused`. A movement step whose result is
// read elsewhere too stays, beside the fused step. nullopt with a reason when a step computes other nodes as well, or
// something inside is read outside.
std::optional<Match> replace_nodes(const RewriteContext& context, const std::set<NodeId>& core, const std::set<NodeId>& absorbed, const Step& fused,
                                   std::string* refusal);

// Opens those of `knobs` that have a choice for replacement step `step` of the match.
void open_knobs(const RewriteContext& context, Match& match, size_t step, const std::vector<std::string>& knobs);

}  // namespace amdahl
