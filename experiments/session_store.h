#pragma once
// Where the loop keeps what it did. Two implementations: SQLite (session.h) and memory (tests, runs without a session).
//
// One commit is one step of the loop and is atomic: after a kill at any byte the store holds all of a commit or none of
// it. The loop keeps no state elsewhere: tried candidates, success rates and search positions are folds over
// experiments(), random numbers are drawn from (session seed, experiment number); so a resumed run takes the same
// decisions given the same measurements.

#include <map>
#include <optional>
#include <vector>

#include "experiments/comparison.h"
#include "experiments/experiment.h"

namespace amdahl {

// Rows are inserted, or replaced when their id is there already (a race's survivor is written again after its proof, a
// win that the whole model contradicts is written again as reverted).
struct Commit {
  std::vector<Experiment> experiments;
  std::map<std::string, std::string> texts;  // of their kernels, by Variant::id(); one that is kept already may be left out, or given again
  std::vector<LedgerEntry> ledger;
  std::vector<PlanRecord> plans;
  std::vector<ProfileRecord> profiles;
  std::optional<Json> options;  // of the run (tuner/search/tune_options.h), written once at the start
  std::optional<Json> state;    // the loop's small rest: head and gated plan, pending wins, seconds spent
  std::optional<Headline> headline;
  std::vector<ComparedArm> compared;
};

class SessionStore {
 public:
  virtual ~SessionStore() = default;
  // Durable when it returns. Throws Error(kIo) when it cannot be.
  virtual void commit(const Commit& commit) = 0;
  // All by ascending id.
  virtual std::vector<Experiment> experiments() const = 0;
  virtual std::vector<LedgerEntry> ledger() const = 0;
  virtual std::vector<PlanRecord> plans() const = 0;
  virtual std::vector<ProfileRecord> profiles() const = 0;
  virtual std::vector<ComparedArm> compared() const = 0;
  virtual Json options() const = 0;  // null before the first commit
  virtual Json state() const = 0;    // null before the first commit
  virtual std::optional<Headline> headline() const = 0;
};

class MemoryStore : public SessionStore {
 public:
  void commit(const Commit& commit) override;
  std::vector<Experiment> experiments() const override;
  std::vector<LedgerEntry> ledger() const override;
  std::vector<PlanRecord> plans() const override;
  std::vector<ProfileRecord> profiles() const override;
  std::vector<ComparedArm> compared() const override;
  Json options() const override { return options_; }
  Json state() const override { return state_; }
  std::optional<Headline> headline() const override { return headline_; }

 private:
  std::map<int64_t, Experiment> experiments_;
  std::map<int64_t, LedgerEntry> ledger_;
  std::map<int64_t, PlanRecord> plans_;
  std::map<int64_t, ProfileRecord> profiles_;
  std::map<int64_t, ComparedArm> compared_;
  Json options_, state_;
  std::optional<Headline> headline_;
};

}  // namespace amdahl
