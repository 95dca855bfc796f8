#pragma once
// A comparison in words, for the terminal: of `compare` itself, of reports, of the last lines of a run.

#include <string>
#include <vector>

#include "experiments/comparison.h"

namespace amdahl {

// "ONNX Runtime 1.20.1, optimiser off".
std::string label_of(const ComparedArm& row);
bool is_measured(const ComparedArm& row);  // and computes what it should
// The row that the others are held against; nullptr where there is none.
const ComparedArm* first_of_ours(const std::vector<ComparedArm>& rows);

// Arms in the order of their speed, and below them those that were not measured, with reason and what to type.
std::string compared_table(const std::vector<ComparedArm>& rows);
// "ours is 1.31x [1.28, 1.34] as fast as ONNX Runtime 1.20.1", "PyTorch 2.9.0, compiled, is 1.20x [1.10, 1.25] as fast as ours", "ours is level with …".
std::string standing_text(const Baseline& baseline);
// "6.03 ms beside 7.91 ms a run, 2 threads, f32, 15 rounds, 2026-11-28 12:00 UTC".
std::string conditions_text(const Baseline& baseline);
// "" where it compares the plan that is kept now; else what to say of its age.
std::string age_text(const Baseline& baseline, const SessionStore& store);

}  // namespace amdahl
