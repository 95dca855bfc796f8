#pragma once
// Where kernels come from. What this program proved on this account of this machine is its own; all else, by whatever way it came into a wisdom
// file, is from outside and says so as long as a text of others is in it.

#include <string>
#include <vector>

#include "experiments/session_store.h"
#include "plan/plan.h"

namespace amdahl {

// A number that nobody else knows, drawn once and kept in the cache folder: forms that it proved carry it. "" when it cannot be kept: then
// everything is from outside.
std::string home_of(const std::string& cache_dir);

// Whether a step's kernel is a text that this program did not write itself.
bool holds_foreign_text(const std::vector<Step>& steps);

// Where the texts of these steps came from when an experiment of the session had one of them from outside; else "".
std::string origin_of(const std::vector<Experiment>& experiments, const std::vector<Step>& steps);

// "" or why the plan may not leave the session: the first step whose text is not this program's and that no experiment of the session has
// proven twice and the whole model confirmed.
std::string unproven_text(const SessionStore& session, const Plan& plan);

}  // namespace amdahl
