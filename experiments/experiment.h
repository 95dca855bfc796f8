#pragma once
// What the loop leaves behind: experiments, the ledger of kept steps, plans and profiles. Plain data; the session store
// (session_store.h) keeps it, reports read it, and a resumed run rebuilds its scheduler and searchers from it alone.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "starter_kernels/kinds/problem.h"

namespace amdahl {

// What became of a candidate. Values are stored in sessions: append only.
enum class Outcome : uint8_t {
  kKept,          // proven faster, applied
  kReverted,      // works, but is not faster; or the whole model contradicted the win (stage "gate")
  kInconclusive,  // works, looked faster, was not proven
  kBuildFailed,   // did not compile
  kCrashed,       // died of a signal or exited
  kTimedOut,      // killed by the watchdog
  kWrong,         // an output differs from the oracle by more than its bound, or was not written
  kMistrusted,    // conduct: forbidden system call, state left behind, outputs that prove nothing
};
std::string_view name_of(Outcome outcome);         // "kept", "build-failed", …
Outcome outcome_from_name(std::string_view name);  // throws Error(kSessionDamaged)

// Wall-clock seconds spent on one experiment.
struct PhaseSeconds {
  double build = 0, validate = 0, race = 0, prove = 0, confirm = 0;
  double total() const { return build + validate + race + prove + confirm; }
};

// A gain as log(incumbent time / challenger time), with a 95% interval. Zero interval when nothing was measured.
struct Gain {
  double log = 0, lo = 0, hi = 0;
  int pairs = 0;
};

// Amdahl's law: log speed-up of the model when this share of its time becomes faster by `log_gain`.
double model_gain(double share, double log_gain);

struct Experiment {
  int64_t id = 0;  // 1, 2, … in order of start
  // What was tried.
  std::string rewrite;
  int tier = 0;
  std::string signature;   // of the window
  std::string window;      // for people: "matmul[128,768]x[768,3072] + gelu"
  int64_t plan = 0;        // PlanRecord::id it started from
  std::vector<int> steps;  // the window in that plan
  int occurrences = 1;
  std::string candidate;        // identity: hash of the replacement; never tried twice on one signature
  std::string incumbent;        // identity of what it raced against: ratios of one incumbent can be compared
  Json replacement;             // array of Step (plan/plan.h): variants, sources, operands
  std::string origin;           // "" of this program and this session's own search; else where it, or a text in it, came from (provenance.h)
  std::string object_code;      // hash of the machine code that was judged (BuildResult::code); "" of older sessions, or when it did not build
  Json knobs = Json::object();  // the values of the knobs under search
  // What came of it.
  Outcome outcome = Outcome::kInconclusive;
  std::string stage;                                         // where it ended: build smoke shapes numerics determinism conduct race prove confirm gate;
                                                             // or "proven": applied for now, its confirmation comes later
  std::string code;                                          // one word for a failure ("stale", "forbidden-call"; docs/trust.md lists them), else ""
  std::string reason;                                        // one line
  uint64_t seed = 0;                                         // replays inputs, poison, order of the arms
  double incumbent_seconds = 0, challenger_seconds = 0;      // one window, medians; race's until proven
  double race_log_ratio = 0;                                 // log(incumbent/challenger) of the screening race
  std::vector<double> prove_log_ratios, confirm_log_ratios;  // one a pair of fresh processes
  int pairs_dropped = 0;                                     // by rules blind to the arm: stolen time, preemption
  std::vector<double> dropped_log_ratios;                    // of those pairs, for whoever wants to see that dropping favours no arm
  double confirm_delay = 0;                                  // seconds from the end of the proof to the first pair of its confirmation
  Gain gain;                                                 // from the confirmation pairs only
  double share = 0;                                          // of the model's time that all occurrences had
  PhaseSeconds seconds;
};

// One step of the whole model: wins that were gated together.
struct LedgerEntry {
  int64_t id = 0;
  std::vector<int64_t> experiments;
  int64_t plan_before = 0, plan_after = 0;
  double predicted = 0;  // log speedup of the model by Amdahl's law from the windows' gains
  Gain measured;         // of the model, end to end
  double before_seconds = 0, after_seconds = 0;
  int pairs_dropped = 0;  // that the host disturbed: made again
  bool kept = false;
  std::string reason;
  double error = 0;        // of the model's outputs against float64, relative norm (0: not measured)
  double error_ratio = 0;  // relative to the starter plan's
};

struct PlanRecord {
  int64_t id = 0;
  int64_t parent = -1;
  int64_t experiment = 0;  // that made it; 0 for the starter plan
  bool gated = false;      // the whole model has confirmed it
  bool rolled_back = false;
  Json plan;  // plan/plan.h
};

// Where the time of a plan goes, measured in place in the whole model.
struct ProfileRecord {
  int64_t id = 0;
  int64_t plan = 0;
  double model_seconds = 0;           // a whole run, medians
  std::vector<double> step_seconds;   // by step of the plan
  std::vector<double> floor_seconds;  // by step: what its roofline allows at best
  double memory_gbs = 0;              // what memory feeds the plan's threads at best, 1e9 bytes a second; 0: of an older session
};

// What a session claims: the starter plan against the kept plan, measured as wholes in pairs of fresh processes after the
// last keep. Never the product of the steps.
struct Headline {
  int64_t plan = 0;  // the kept plan
  Gain gain;         // log(starter time / kept time)
  double starter_seconds = 0, kept_seconds = 0;
  int pairs_dropped = 0;            // that the host disturbed: made again
  uint64_t seed = 0;                // replays inputs and order of the arms; 0: of an older session
  std::vector<std::string> inputs;  // distributions of the models' inputs, which pairs took in turns
};

void to_json(Json& j, const Headline& h);
void from_json(const Json& j, Headline& h);
void to_json(Json& j, const Gain& g);
void from_json(const Json& j, Gain& g);
void to_json(Json& j, const Experiment& e);
void from_json(const Json& j, Experiment& e);
void to_json(Json& j, const LedgerEntry& e);
void from_json(const Json& j, LedgerEntry& e);
void to_json(Json& j, const PlanRecord& p);
void from_json(const Json& j, PlanRecord& p);
void to_json(Json& j, const ProfileRecord& p);
void from_json(const Json& j, ProfileRecord& p);

}  // namespace amdahl
