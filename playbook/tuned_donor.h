#pragma once
// What a search has found for one kernel is the best first guess for its neighbours: a network has a handful of shapes of
// each kind, and what their good forms differ in is little.

#include <optional>

#include "playbook/rewrite.h"

namespace amdahl {

// `own` with the donor's values of the space's knobs: where the space lacks a value, with the nearest below.
Knobs adopted(const SearchSpace& space, const Knobs& own, const Knobs& donor);

// `own` with knobs, flags and compiler of the step of the plan that is most like it and no longer stands as it started: the donor's values where this
// problem allows them, else the nearest below. nullopt where no such step gives another form that its kind accepts.
std::optional<Variant> as_nearest_tuned(const RewriteContext& context, const Variant& own);

// Kernels of a replacement that would stand as they start begin where the search for their like has ended. Match::others gets them as they were:
// what is good for rows of 14 pixels need not be for rows of 56.
void begin_as_tuned(const RewriteContext& context, Match& match);

}  // namespace amdahl
