#pragma once
// What `amdahl compare` leaves behind: a row for each arm, ours and others' runtimes, that took turns in one run; and the best of the others, which is what a
// reader asks for first, above all where it wins.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace amdahl {

class SessionStore;

struct ComparedArm {
  int64_t id = 0;
  int64_t comparison = 0;  // the same for all rows of one run: 1, 2, …
  int64_t made_at = 0;     // Unix time
  std::string arm;         // "tuned", "starter", "onnxruntime plain", "openvino bf16": what scripts ask for
  std::string title;       // for people: "ONNX Runtime"
  std::string form;        // "optimiser off", "compiled"
  std::string version;     // of the runtime
  bool ours = false;       // the first row that is ours is what the others are held against
  int threads = 0;
  std::string precision = "f32";      // what products may be rounded to: "f32", "bf16"
  std::string shape;                  // of a session of several shapes
  int64_t plan = 0;                   // PlanRecord::id; 0 for others, and where there is no session
  std::vector<double> round_seconds;  // each the median of a turn
  double seconds = 0;                 // their median; 0: not measured
  double quiet_seconds = 0;           // the time that a tenth of all runs did not exceed
  Gain over_ours;                     // log(its time / ours), round by round
  std::optional<double> difference;   // of its outputs, relative norm; nothing where they were not compared
  double others = 0;                  // share of the processors that other programs had meanwhile, 0 to 1
  std::string compared_with;          // "ours", "its own eager": whose outputs
  std::string reason;                 // why it does not count: not measured, died, computes something else; "" where it does
  std::string advice;                 // what to type then
};
void to_json(Json& j, const ComparedArm& row);
void from_json(const Json& j, ComparedArm& row);

// The fastest of the others in one comparison, beside ours.
struct Baseline {
  ComparedArm peer, ours;
};

// Of the rows of one comparison. A peer counts that was measured, computes the same, and rounds no more than ours does: one in bf16 is no baseline of a plan
// in f32, but one in f32 is a baseline of a plan that may round to bf16. Nothing where no peer counts.
std::optional<Baseline> best_baseline(const std::vector<ComparedArm>& rows);
// The rows that a reader is shown: of the newest comparison in which a peer counts, or of the newest of all where none ever did.
std::vector<ComparedArm> shown_comparison(const SessionStore& store);

// {arm, title, version, …, standing}: for whoever asks for one figure. `standing` is ours: "faster", "level", "slower".
Json baseline_json(const Baseline& baseline);

}  // namespace amdahl
